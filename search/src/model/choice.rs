//! Which model: the one in the binary, one of a folder, or one of fastembed's from a hub.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fastembed::{EmbeddingModel, TextEmbedding, TextInitOptions};
use ort::environment::Environment;

use super::builtin;
use super::embedder::{TOKENS, providers, session_threads};
use super::files::ModelFiles;
use crate::error::ModelError;
use crate::place::Place;

/// The model in the binary.
pub const BUILTIN: &str = "all-MiniLM-L6-v2-int8";

#[derive(Debug, Clone, Default, PartialEq)]
pub enum ModelChoice {
    #[default]
    Builtin,
    /// A folder in the form of `third_party/minilm`.
    Folder(PathBuf),
    /// One of fastembed's, by the name it has at its hub.
    Hub(EmbeddingModel),
}

/// A model that can be chosen.
#[derive(Debug, Clone)]
pub struct ListedModel {
    pub name: String,
    pub width: usize,
    pub description: String,
}

impl ModelChoice {
    /// What the user chose with `pml model use`; the built-in model where nothing was chosen.
    pub fn of_user(place: &Place) -> Result<Self, ModelError> {
        match fs::read_to_string(place.choice()) {
            Ok(text) => match text.trim() {
                "" => Ok(Self::Builtin),
                // One that is gone is told by the search that needs it, which has words alone then.
                folder if Path::new(folder).is_absolute() => Ok(Self::Folder(folder.into())),
                name => name.parse(),
            },
            Err(_) => Ok(Self::Builtin),
        }
    }

    pub fn remember(&self, place: &Place) -> io::Result<()> {
        fs::create_dir_all(place.root())?;
        fs::write(place.choice(), format!("{self}\n"))
    }

    pub fn list() -> Vec<ListedModel> {
        let builtin = ListedModel {
            name: BUILTIN.to_owned(),
            width: 384,
            description: "all-MiniLM-L6-v2 in 8 bits, part of pml".to_owned(),
        };
        let hub = TextEmbedding::list_supported_models().into_iter();
        let hub = hub.map(|info| ListedModel {
            name: info.model_code,
            width: info.dim,
            description: info.description,
        });
        let mut models = vec![builtin];
        for model in hub {
            if models.iter().all(|listed| listed.name != model.name) {
                models.push(model);
            }
        }
        models
    }

    pub(super) fn load(
        &self,
        environment: Environment,
        place: Option<&Place>,
        tell: &dyn Fn(&str),
    ) -> Result<TextEmbedding, ModelError> {
        match self {
            Self::Builtin => {
                let loaded = builtin::files().load(environment);
                builtin::give_back();
                loaded
            }
            Self::Folder(folder) => ModelFiles::read(folder)?.load(environment),
            Self::Hub(model) => {
                tell(&format!("loading {self}; the first time it is fetched"));
                let mut options = TextInitOptions::new(model.clone())
                    .with_max_length(TOKENS)
                    .with_intra_threads(session_threads())
                    .with_execution_providers(providers())
                    .with_environment(environment)
                    .with_show_download_progress(false);
                if let Some(place) = place {
                    options = options.with_cache_dir(place.models());
                }
                TextEmbedding::try_new(options)
                    .map_err(|error| ModelError::Broken(error.to_string()))
            }
        }
    }
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str(BUILTIN),
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

    /// The name of the built-in model, a folder (anything with its own file `SHA256SUMS`), or a
    /// name of [`ModelChoice::list`].
    fn from_str(name: &str) -> Result<Self, ModelError> {
        if name == BUILTIN {
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
    fn every_listed_model_can_be_chosen_and_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::at(folder.path());
        for model in ModelChoice::list() {
            let choice: ModelChoice = model.name.parse().unwrap();
            assert_eq!(choice.to_string(), model.name);
            choice.remember(&place).unwrap();
            assert_eq!(ModelChoice::of_user(&place).unwrap(), choice);
        }
    }

    #[test]
    fn an_unknown_name_is_refused() {
        let error = "gpt".parse::<ModelChoice>().unwrap_err().to_string();
        assert!(error.contains("no model called `gpt`"), "{error}");
    }

    #[test]
    fn without_a_choice_it_is_the_built_in_one() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::at(folder.path().join("none"));
        assert_eq!(ModelChoice::of_user(&place).unwrap(), ModelChoice::Builtin);
    }
}
