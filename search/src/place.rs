//! Where search keeps its files.

use std::env;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The user's data folder, and what lies where in it.
#[derive(Debug, Clone)]
pub struct Place {
    root: PathBuf,
    indexes: PathBuf,
}

impl Place {
    /// `pml` in the user's data folder. `None` for a user without a home.
    pub fn of_user() -> Option<Self> {
        let absolute = |name: &str| {
            let path = PathBuf::from(env::var_os(name)?);
            path.is_absolute().then_some(path)
        };
        let data = absolute("XDG_DATA_HOME").or_else(|| {
            let home = absolute("HOME")?;
            Some(match cfg!(target_os = "macos") {
                true => home.join("Library/Application Support"),
                false => home.join(".local/share"),
            })
        })?;
        Some(Self::at(data.join("pml")))
    }

    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            indexes: root.join("index"),
            root,
        }
    }

    /// The same place with indexes in another folder.
    pub fn with_indexes(self, indexes: impl Into<PathBuf>) -> Self {
        Self {
            indexes: indexes.into(),
            ..self
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The index of one configuration: two files with the same servers may mean other tools.
    pub fn index(&self, configuration: &Path) -> PathBuf {
        let path = configuration
            .canonicalize()
            .unwrap_or_else(|_| configuration.to_owned());
        let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
        let name: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
        self.indexes.join(name)
    }

    pub fn library(&self) -> PathBuf {
        self.root.join("onnxruntime")
    }

    /// Models that were fetched from a hub.
    pub fn models(&self) -> PathBuf {
        self.root.join("models")
    }

    /// Which model the user chose.
    pub fn choice(&self) -> PathBuf {
        self.root.join("model")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_configuration_has_its_own_index() {
        let place = Place::at("/data/pml");
        let one = place.index(Path::new("/a/.mcp.json"));
        assert_eq!(one, place.index(Path::new("/a/.mcp.json")));
        assert_ne!(one, place.index(Path::new("/b/.mcp.json")));
        assert!(one.starts_with("/data/pml/index"));
    }
}
