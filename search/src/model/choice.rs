//! The choice of a model: the built-in one, one in a folder, or one that fastembed downloads from a hub.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fastembed::{EmbeddingModel, TextEmbedding, TextInitOptions};
use ort::environment::Environment;

use super::builtin;
use super::embedder::{MAX_TOKENS, providers, session_threads};
use super::files::ModelFiles;
use super::hub_pin::HubPin;
use crate::error::ModelError;
use crate::process_memory;
use crate::search_paths::SearchPaths;

/// The name of the built-in model.
pub const BUILTIN_MODEL: &str = "all-MiniLM-L6-v2-int8";

/// An embedding model.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ModelChoice {
    /// The model in the binary.
    #[default]
    Builtin,
    /// A folder with the files of a model, as in `third_party/minilm`.
    Folder(PathBuf),
    /// A model that fastembed knows and downloads from a hub.
    Hub(EmbeddingModel),
}

/// An available model.
#[derive(Debug, Clone)]
pub struct ListedModel {
    /// The name to choose it by.
    pub name: String,
    /// The dimensions of its vectors.
    pub width: usize,
    /// A description for people.
    pub description: String,
}

impl ModelChoice {
    /// The model that was chosen with `pml model use`; the built-in one if there was no choice.
    ///
    /// # Errors
    ///
    /// If the saved name is not that of a model.
    pub fn load_saved(paths: &SearchPaths) -> Result<Self, ModelError> {
        match fs::read_to_string(paths.model_choice_file()) {
            Ok(text) => match text.trim() {
                "" => Ok(Self::Builtin),
                // Not checked here: the search that needs the folder reports that it is missing, and
                // ranks by words alone.
                folder if Path::new(folder).is_absolute() => Ok(Self::Folder(folder.into())),
                name => name.parse(),
            },
            Err(_) => Ok(Self::Builtin),
        }
    }

    /// Saves the choice for later runs.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&self, paths: &SearchPaths) -> io::Result<()> {
        fs::create_dir_all(paths.root())?;
        fs::write(paths.model_choice_file(), format!("{self}\n"))
    }

    /// All models that can be chosen by name, the built-in one first.
    pub fn list() -> Vec<ListedModel> {
        let builtin = ListedModel {
            name: BUILTIN_MODEL.to_owned(),
            width: 384,
            description: "all-MiniLM-L6-v2 in 8 bits, part of pml".to_owned(),
        };
        let hub = TextEmbedding::list_supported_models().into_iter();
        let hub = hub.map(|info| ListedModel {
            name: info.model_code,
            width: info.dim,
            description: info.description,
        });
        let mut hub: Vec<_> = hub.filter(|model| model.name != builtin.name).collect();
        // fastembed lists its models in the order of a hash map.
        hub.sort_by(|a, b| a.name.cmp(&b.name));
        hub.dedup_by(|a, b| a.name == b.name);
        let mut models = vec![builtin];
        models.extend(hub);
        models
    }

    pub(super) fn load(
        &self,
        environment: Environment,
        paths: Option<&SearchPaths>,
        on_status: &dyn Fn(&str),
    ) -> Result<TextEmbedding, ModelError> {
        match self {
            Self::Builtin => {
                let loaded = builtin::files().load(environment);
                process_memory::release_builtin_model();
                loaded
            }
            Self::Folder(folder) => ModelFiles::read(folder)?.load(environment),
            Self::Hub(model) => {
                on_status(&format!("loading {self}; it is downloaded the first time"));
                // Without a folder, fastembed would read and write models in the working folder.
                let folder = paths.map(SearchPaths::models_folder).ok_or_else(|| {
                    ModelError::Download("no home folder to put the model into".to_owned())
                })?;
                let options = TextInitOptions::new(model.clone())
                    .with_cache_dir(folder.clone())
                    .with_max_length(MAX_TOKENS)
                    .with_intra_threads(session_threads())
                    .with_execution_providers(providers())
                    .with_environment(environment)
                    .with_show_download_progress(false);
                // fastembed prefers this folder.
                let models = std::env::var_os("HF_HOME").map(PathBuf::from);
                let models = models.unwrap_or_else(|| folder.clone());
                let pin = HubPin::new(&folder, &models, &self.to_string());
                pin.check()?;
                let loaded = TextEmbedding::try_new(options)
                    .map_err(|error| ModelError::Broken(error.to_string()))?;
                pin.keep()?;
                Ok(loaded)
            }
        }
    }
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str(BUILTIN_MODEL),
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Hub(model) => match TextEmbedding::get_model_info(model) {
                Ok(info) => f.write_str(&info.model_code),
                Err(_) => write!(f, "{model:?}"),
            },
        }
    }
}

impl FromStr for ModelChoice {
    type Err = ModelError;

    /// Accepts the name of the built-in model, a folder that has a file `SHA256SUMS`, or a name of
    /// [`ModelChoice::list`].
    fn from_str(name: &str) -> Result<Self, ModelError> {
        if name == BUILTIN_MODEL {
            return Ok(Self::Builtin);
        }
        if Path::new(name).join("SHA256SUMS").is_file() {
            let folder = Path::new(name).canonicalize();
            return Ok(Self::Folder(folder.unwrap_or_else(|_| name.into())));
        }
        let known = TextEmbedding::list_supported_models().into_iter();
        known
            .into_iter()
            .find(|info| info.model_code.eq_ignore_ascii_case(name))
            .map(|info| Self::Hub(info.model))
            .ok_or_else(|| ModelError::Unknown(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_model_can_be_chosen_and_saved() {
        let folder = tempfile::tempdir().unwrap();
        let paths = SearchPaths::new(folder.path());
        for model in ModelChoice::list() {
            let choice: ModelChoice = model.name.parse().unwrap();
            assert_eq!(choice.to_string(), model.name);
            choice.save(&paths).unwrap();
            assert_eq!(ModelChoice::load_saved(&paths).unwrap(), choice);
        }
    }

    #[test]
    fn an_unknown_name_is_refused() {
        let error = "gpt".parse::<ModelChoice>().unwrap_err().to_string();
        assert!(error.contains("unknown model `gpt`"), "{error}");
    }

    #[test]
    fn without_a_saved_choice_the_built_in_model_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let paths = SearchPaths::new(folder.path().join("none"));
        assert_eq!(
            ModelChoice::load_saved(&paths).unwrap(),
            ModelChoice::Builtin
        );
    }
}
