//! Where catalogs lie, and how they are written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pml_files::{Access, create_private_dir, write_atomic};
use sha2::{Digest, Sha256};

use crate::{Catalog, CatalogError, Shapes};

/// Configurations that are remembered; the one not used for longest goes first.
const MAX_CONFIGURATIONS: usize = 100;

/// A configuration file at one moment.
#[derive(Debug, Clone)]
pub struct Source {
    /// Names the files in the store: it stays when the configuration is edited.
    name: String,
    /// Changes whenever the configuration does.
    pub content: String,
}

impl Source {
    /// The configuration `text` of the file at `path`.
    pub fn new(path: &Path, text: &[u8]) -> Self {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Self {
            name: digest(path.as_os_str().as_encoded_bytes()),
            content: digest(text),
        }
    }

    /// The configuration at `path`, as it is now.
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

/// A folder of catalogs, which is made when the first one is written.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// A folder of its own below the data folder of a user.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The tools of a configuration, if they were listed since it was last edited.
    pub fn catalog(&self, source: &Source) -> Result<Option<Catalog>, CatalogError> {
        let text = read(&self.path(source, "tools"))?;
        Ok(text
            .and_then(Catalog::parse)
            .filter(|catalog| catalog.is_of(&source.content)))
    }

    pub fn keep_catalog(&self, source: &Source, catalog: &Catalog) -> Result<(), CatalogError> {
        let Some(text) = catalog.text() else {
            return Ok(());
        };
        self.write(&self.path(source, "tools"), text)?;
        self.forget_oldest();
        Ok(())
    }

    /// The shapes of results that were seen with a configuration, whatever it was edited since.
    pub fn shapes(&self, source: &Source) -> Result<Shapes, CatalogError> {
        let text = read(&self.path(source, "shapes"))?;
        Ok(text.as_deref().map(Shapes::parse).unwrap_or_default())
    }

    /// Adds what was seen. Of two runs that end at the same moment, one may be lost: it is seen
    /// again next time.
    pub fn keep_shapes(&self, source: &Source, shapes: &Shapes) -> Result<(), CatalogError> {
        self.write(&self.path(source, "shapes"), &shapes.text())?;
        self.forget_oldest();
        Ok(())
    }

    fn path(&self, source: &Source, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}", source.name))
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), CatalogError> {
        create_private_dir(&self.folder)
            .and_then(|()| write_atomic(path, text.as_bytes(), Access::OwnerOnly))
            .map_err(|source| CatalogError::Write {
                path: path.to_owned(),
                source,
            })
    }

    /// Failing to tidy up is nobody's concern.
    fn forget_oldest(&self) {
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
        // Each configuration has two.
        let most = 2 * MAX_CONFIGURATIONS;
        if files.len() > most {
            files.sort();
            let old = files.len() - most;
            for (_, path) in files.into_iter().take(old) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, CatalogError> {
    match fs::read(path) {
        // A file that is no text is a damaged one, and is written again.
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
        let store = Store::new(folder.path().join("catalog"));
        let file = Path::new("/nowhere/.mcp.json");
        let source = Source::new(file, b"{}");
        assert!(store.catalog(&source).unwrap().is_none());
        let catalog = Catalog::new(&source.content, 1, BTreeMap::new(), &[]);
        store.keep_catalog(&source, &catalog).unwrap();
        let mut shapes = Shapes::default();
        let mut shape = pml_typegen::Shape::default();
        shape.observe(&serde_json::json!(1));
        shapes.add("a:b", shape);
        store.keep_shapes(&source, &shapes).unwrap();

        assert!(store.catalog(&source).unwrap().is_some());
        let edited = Source::new(file, b"{ }");
        assert!(store.catalog(&edited).unwrap().is_none());
        assert_eq!(store.shapes(&edited).unwrap(), shapes);
        let other = Source::new(Path::new("/nowhere/other.json"), b"{}");
        assert!(store.catalog(&other).unwrap().is_none());
        assert!(store.shapes(&other).unwrap().is_empty());
    }

    #[test]
    fn only_so_many_configurations_are_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        for n in 0..2 * MAX_CONFIGURATIONS + 10 {
            let source = Source::new(Path::new(&format!("/nowhere/{n}")), b"");
            store.keep_shapes(&source, &Shapes::default()).unwrap();
        }
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            2 * MAX_CONFIGURATIONS
        );
    }
}
