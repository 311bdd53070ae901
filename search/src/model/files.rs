//! The files of a model that is not from a hub; their checksums are verified before use.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use fastembed::{
    InitOptionsUserDefined, Pooling, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};
use ort::environment::Environment;

use super::checksum::check;
use super::embedder::{MAX_TOKENS, providers, session_threads};
use crate::error::ModelError;

/// File names of the ONNX model in a folder, in the order they are tried.
const MODEL_NAMES: [&str; 2] = ["model_int8.onnx", "model.onnx"];

/// The contents of a model's files.
pub struct ModelFiles<'a> {
    /// `SHA256SUMS`
    pub sums: Cow<'a, str>,
    /// The ONNX model with its file name.
    pub model: (&'static str, Cow<'a, [u8]>),
    /// `tokenizer.json`
    pub tokenizer: Cow<'a, [u8]>,
    /// `config.json`
    pub config: Cow<'a, [u8]>,
    /// `special_tokens_map.json`
    pub special_tokens: Cow<'a, [u8]>,
    /// `tokenizer_config.json`
    pub tokenizer_config: Cow<'a, [u8]>,
}

impl ModelFiles<'static> {
    /// Reads the files of a folder that is laid out as `third_party/minilm`.
    ///
    /// # Errors
    ///
    /// If a file is missing or cannot be read.
    pub fn read(folder: &Path) -> Result<Self, ModelError> {
        let read = |name: &str| {
            fs::read(folder.join(name)).map_err(|_| ModelError::Missing {
                what: name.to_owned(),
                folder: folder.to_owned(),
            })
        };
        let name = MODEL_NAMES
            .into_iter()
            .find(|name| folder.join(name).is_file())
            .unwrap_or("model.onnx");
        Ok(Self {
            sums: String::from_utf8_lossy(&read("SHA256SUMS")?)
                .into_owned()
                .into(),
            model: (name, read(name)?.into()),
            tokenizer: read("tokenizer.json")?.into(),
            config: read("config.json")?.into(),
            special_tokens: read("special_tokens_map.json")?.into(),
            tokenizer_config: read("tokenizer_config.json")?.into(),
        })
    }
}

impl ModelFiles<'_> {
    /// Verifies the checksums of all files.
    ///
    /// # Errors
    ///
    /// If a checksum differs or is not listed.
    pub fn check(&self) -> Result<(), ModelError> {
        for (name, bytes) in [
            (self.model.0, &self.model.1),
            ("tokenizer.json", &self.tokenizer),
            ("config.json", &self.config),
            ("special_tokens_map.json", &self.special_tokens),
            ("tokenizer_config.json", &self.tokenizer_config),
        ] {
            check(&self.sums, name, bytes)?;
        }
        Ok(())
    }

    /// Verifies the files and loads the model.
    ///
    /// # Errors
    ///
    /// If a checksum differs or ONNX Runtime refuses the model.
    pub fn load(self, environment: Environment) -> Result<TextEmbedding, ModelError> {
        self.check()?;
        let tokenizer = TokenizerFiles {
            tokenizer_file: self.tokenizer.into_owned(),
            config_file: self.config.into_owned(),
            special_tokens_map_file: self.special_tokens.into_owned(),
            tokenizer_config_file: self.tokenizer_config.into_owned(),
        };
        let model = UserDefinedEmbeddingModel::new(self.model.1.into_owned(), tokenizer)
            .with_pooling(Pooling::Mean);
        let options = InitOptionsUserDefined::new()
            .with_max_length(MAX_TOKENS)
            .with_intra_threads(session_threads())
            // Within a text, spinning threads save a third of the time. After it they must stop, or
            // they would take the CPU from the servers.
            .with_session_config("session.force_spinning_stop", "1")
            .with_execution_providers(providers())
            .with_environment(environment);
        TextEmbedding::try_new_from_user_defined(model, options)
            .map_err(|error| ModelError::Broken(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::builtin;

    #[test]
    fn the_built_in_model_matches_its_checksums() {
        builtin::files().check().unwrap();
    }

    #[test]
    fn a_model_with_a_flipped_bit_is_refused() {
        let mut files = builtin::files();
        let bytes = files.model.1.to_mut();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let error = files.check().unwrap_err().to_string();
        assert!(
            error.contains("model_int8.onnx of the model is damaged"),
            "{error}"
        );
    }

    #[test]
    fn the_error_names_the_missing_file_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let Err(error) = ModelFiles::read(folder.path()) else {
            panic!("an empty folder is not a model");
        };
        assert!(
            error.to_string().starts_with("SHA256SUMS is missing in"),
            "{error}"
        );
    }
}
