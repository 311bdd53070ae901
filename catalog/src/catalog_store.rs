//! The folder of catalog files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pml_files::{Access, create_private_dir, write_atomic};
use sha2::{Digest, Sha256};

use crate::{CallHistory, Catalog, CatalogError, ResultShapes};

/// Configurations whose files are kept; the files written longest ago are deleted first.
const MAX_CONFIGURATIONS: usize = 100;

/// Identifies a configuration file and its contents at one moment.
#[derive(Debug, Clone)]
pub struct ConfigFingerprint {
    /// Digest of the path; names the files in the store, so an edit does not change it.
    path: String,
    /// Digest of the contents; changes with every edit.
    pub content: String,
}

impl ConfigFingerprint {
    /// The fingerprint of the file at `path` with the contents `text`.
    pub fn new(path: &Path, text: &[u8]) -> Self {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Self {
            path: digest(path.as_os_str().as_encoded_bytes()),
            content: digest(text),
        }
    }

    /// What names the files of the configuration.
    pub(crate) fn name(&self) -> &str {
        &self.path
    }

    /// The fingerprint of the file at `path` as it is now.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, CatalogError> {
        let text = fs::read(path).map_err(|source| CatalogError::Read {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::new(path, &text))
    }
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A folder of catalog files. It is created by the first write.
#[derive(Debug, Clone)]
pub struct CatalogStore {
    folder: PathBuf,
}

impl CatalogStore {
    /// A store in `folder`, which must hold nothing else: old files in it are deleted.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The tools of a configuration; `None` if they were not listed since its last edit.
    ///
    /// # Errors
    ///
    /// If the file exists but cannot be read.
    pub fn catalog(&self, config: &ConfigFingerprint) -> Result<Option<Catalog>, CatalogError> {
        let text = read(&self.path(config, "tools"))?;
        Ok(text
            .and_then(Catalog::parse)
            .filter(|catalog| catalog.belongs_to(&config.content)))
    }

    /// Writes the tools of a configuration. A catalog above the size limit is skipped.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save_catalog(
        &self,
        config: &ConfigFingerprint,
        catalog: &Catalog,
    ) -> Result<(), CatalogError> {
        let Some(text) = catalog.text() else {
            return Ok(());
        };
        self.write(&self.path(config, "tools"), text)?;
        self.delete_oldest();
        Ok(())
    }

    /// The result shapes of a configuration; edits do not invalidate them.
    ///
    /// # Errors
    ///
    /// If the file exists but cannot be read.
    pub fn shapes(&self, config: &ConfigFingerprint) -> Result<ResultShapes, CatalogError> {
        let text = read(&self.path(config, "shapes"))?;
        Ok(text.as_deref().map(ResultShapes::parse).unwrap_or_default())
    }

    /// Writes the result shapes of a configuration. If two runs write at once, the shapes of one may be
    /// lost; a later run observes them again.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save_shapes(
        &self,
        config: &ConfigFingerprint,
        shapes: &ResultShapes,
    ) -> Result<(), CatalogError> {
        self.write(&self.path(config, "shapes"), &shapes.text())?;
        self.delete_oldest();
        Ok(())
    }

    /// How calls of the tools of a configuration went; edits do not invalidate it.
    ///
    /// # Errors
    ///
    /// If the file exists but cannot be read.
    pub fn history(&self, config: &ConfigFingerprint) -> Result<CallHistory, CatalogError> {
        let text = read(&self.path(config, "calls"))?;
        Ok(text.as_deref().map(CallHistory::parse).unwrap_or_default())
    }

    /// Writes how calls went. If two runs write at once, the calls of one may be lost.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save_history(
        &self,
        config: &ConfigFingerprint,
        history: &CallHistory,
    ) -> Result<(), CatalogError> {
        self.write(&self.path(config, "calls"), &history.text())?;
        self.delete_oldest();
        Ok(())
    }

    fn path(&self, config: &ConfigFingerprint, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}", config.path))
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), CatalogError> {
        create_private_dir(&self.folder)
            .and_then(|()| write_atomic(path, text.as_bytes(), Access::OwnerOnly))
            .map_err(|source| CatalogError::Write {
                path: path.to_owned(),
                source,
            })
    }

    /// Enforces [`MAX_CONFIGURATIONS`]. Errors are ignored: the next write tries again.
    fn delete_oldest(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let changed = entry.metadata().ok()?.modified().ok()?;
                Some((changed, entry.path()))
            })
            .collect();
        // Each configuration has three files.
        let max = 3 * MAX_CONFIGURATIONS;
        if files.len() > max {
            files.sort();
            let old = files.len() - max;
            for (_, path) in files.into_iter().take(old) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, CatalogError> {
    match fs::read(path) {
        // A file that is not UTF-8 is damaged; it is ignored and written again.
        Ok(bytes) => Ok(String::from_utf8(bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CatalogError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn an_edited_configuration_has_no_catalog_and_keeps_its_shapes() {
        let folder = tempfile::tempdir().unwrap();
        let store = CatalogStore::new(folder.path().join("catalog"));
        let file = Path::new("/nowhere/.mcp.json");
        let config = ConfigFingerprint::new(file, b"{}");
        assert!(store.catalog(&config).unwrap().is_none());
        let catalog = Catalog::new(&config.content, 1, BTreeMap::new(), &[]);
        store.save_catalog(&config, &catalog).unwrap();
        let mut shapes = ResultShapes::default();
        let mut shape = pml_typegen::Shape::default();
        shape.observe(&serde_json::json!(1));
        shapes.add("a:b", shape);
        store.save_shapes(&config, &shapes).unwrap();

        assert!(store.catalog(&config).unwrap().is_some());
        let edited = ConfigFingerprint::new(file, b"{ }");
        assert!(store.catalog(&edited).unwrap().is_none());
        assert_eq!(store.shapes(&edited).unwrap(), shapes);
        let other = ConfigFingerprint::new(Path::new("/nowhere/other.json"), b"{}");
        assert!(store.catalog(&other).unwrap().is_none());
        assert!(store.shapes(&other).unwrap().is_empty());
    }

    #[test]
    fn only_so_many_configurations_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = CatalogStore::new(folder.path());
        for n in 0..3 * MAX_CONFIGURATIONS + 10 {
            let config = ConfigFingerprint::new(Path::new(&format!("/nowhere/{n}")), b"");
            store
                .save_shapes(&config, &ResultShapes::default())
                .unwrap();
        }
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            3 * MAX_CONFIGURATIONS
        );
    }
}
