//! File locations of search: indexes, models, the ONNX Runtime library.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Paths of the files that search reads and writes, below the user's data folder.
#[derive(Debug, Clone)]
pub struct SearchPaths {
    root: PathBuf,
    indexes: PathBuf,
}

impl SearchPaths {
    /// `pml` in the user's data folder. `None` for a user without a home folder.
    pub fn for_user() -> Option<Self> {
        pml_files::data_dir().map(Self::new)
    }

    /// Paths below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            indexes: root.join("index"),
            root,
        }
    }

    /// The same paths, with the indexes in another folder.
    pub fn with_indexes(self, indexes: impl Into<PathBuf>) -> Self {
        Self {
            indexes: indexes.into(),
            ..self
        }
    }

    /// The folder that holds everything but relocated indexes.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The index folder of one configuration file. It is keyed by the path, because two files with the
    /// same server names may configure different tools.
    pub fn index_folder(&self, configuration: &Path) -> PathBuf {
        let path = configuration
            .canonicalize()
            .unwrap_or_else(|_| configuration.to_owned());
        let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
        let name: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
        self.indexes.join(name)
    }

    /// The folder of the downloaded ONNX Runtime library.
    pub fn library_folder(&self) -> PathBuf {
        self.root.join("onnxruntime")
    }

    /// The folder of models downloaded from a hub.
    pub fn models_folder(&self) -> PathBuf {
        self.root.join("models")
    }

    /// The file with the user's choice of model.
    pub fn model_choice_file(&self) -> PathBuf {
        self.root.join("model")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_configuration_has_its_own_index() {
        let paths = SearchPaths::new("/data/pml");
        let one = paths.index_folder(Path::new("/a/.mcp.json"));
        assert_eq!(one, paths.index_folder(Path::new("/a/.mcp.json")));
        assert_ne!(one, paths.index_folder(Path::new("/b/.mcp.json")));
        assert!(one.starts_with("/data/pml/index"));
    }
}
