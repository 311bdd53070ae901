//! The checksums of a model from a hub, pinned at its first use.
//!
//! A hub is not part of this repository, so nothing says what its files should be. What is known is
//! what they were when the user chose the model: a file that changed since, or one that appeared, is
//! refused.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pml_files::Access;
use sha2::{Digest, Sha256};

use crate::error::ModelError;

/// The folder of one model in the cache of hub models, and the file with its checksums beside it.
pub struct HubPin {
    folder: PathBuf,
    sums: PathBuf,
}

impl HubPin {
    /// The pin of the model `name` (`org/model`), which is kept in the folder `pins`. The model is in
    /// the cache folder `models`.
    pub fn new(pins: &Path, models: &Path, name: &str) -> Self {
        let folder = format!("models--{}", name.replace('/', "--"));
        Self {
            sums: pins.join(format!("{folder}.SHA256SUMS")),
            folder: models.join(folder),
        }
    }

    /// Checks the files that are there, before they are read. A model without a pin or without files
    /// passes: [`HubPin::keep`] follows its download.
    ///
    /// # Errors
    ///
    /// A file is not the one of the first use.
    pub fn check(&self) -> Result<(), ModelError> {
        let Ok(pinned) = fs::read_to_string(&self.sums) else {
            return Ok(());
        };
        let found = self.digests().map_err(|error| self.unreadable(&error))?;
        let pinned: BTreeMap<&str, &str> = pinned
            .lines()
            .filter_map(|line| line.split_once("  ").map(|(sum, name)| (name, sum)))
            .collect();
        for (name, sum) in &found {
            if pinned.get(name.as_str()) != Some(&sum.as_str()) {
                return Err(ModelError::Changed {
                    file: self.folder.join(name),
                    sums: self.sums.clone(),
                });
            }
        }
        Ok(())
    }

    /// Checks the files again, which may have been downloaded since, and pins them if they were not.
    ///
    /// # Errors
    ///
    /// A file is not the one of the first use, or the pin cannot be written.
    pub fn keep(&self) -> Result<(), ModelError> {
        if self.sums.exists() {
            return self.check();
        }
        let found = self.digests().map_err(|error| self.unreadable(&error))?;
        if found.is_empty() {
            let missing = io::Error::from(io::ErrorKind::NotFound);
            return Err(self.unreadable(&missing));
        }
        let sums: String = found
            .iter()
            .map(|(name, sum)| format!("{sum}  {name}\n"))
            .collect();
        pml_files::write_atomic(&self.sums, sums.as_bytes(), Access::OwnerOnly)
            .map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &io::Error) -> ModelError {
        ModelError::Broken(format!("{}: {error}", self.folder.display()))
    }

    /// The SHA-256 of every file that a model is read from, by its path in the folder. Empty before
    /// the download.
    fn digests(&self) -> io::Result<BTreeMap<String, String>> {
        let mut digests = BTreeMap::new();
        let snapshots = self.folder.join("snapshots");
        if snapshots.is_dir() {
            self.add(&snapshots, &mut digests)?;
        }
        Ok(digests)
    }

    fn add(&self, folder: &Path, digests: &mut BTreeMap<String, String>) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            // Files are links to blobs, folders are folders.
            if path.symlink_metadata()?.is_dir() {
                self.add(&path, digests)?;
            } else {
                let name = path.strip_prefix(&self.folder).unwrap_or(&path);
                digests.insert(name.display().to_string(), sha256_of(&path)?);
            }
        }
        Ok(())
    }
}

/// The SHA-256 of a file that may be larger than memory.
fn sha256_of(path: &Path) -> io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => digest.update(&buffer[..count]),
        }
    }
    let digest = digest.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_changed_since_its_first_use_is_refused() {
        let models = tempfile::tempdir().unwrap();
        let pin = HubPin::new(models.path(), models.path(), "org/model");
        pin.check().unwrap();
        assert!(pin.keep().is_err(), "there is nothing to pin");
        let folder = models.path().join("models--org--model");
        let snapshot = folder.join("snapshots/1234/onnx");
        let blobs = folder.join("blobs");
        fs::create_dir_all(&snapshot).unwrap();
        fs::create_dir_all(&blobs).unwrap();
        fs::write(blobs.join("abcd"), "weights").unwrap();
        std::os::unix::fs::symlink(blobs.join("abcd"), snapshot.join("model.onnx")).unwrap();
        pin.keep().unwrap();
        pin.check().unwrap();

        fs::write(blobs.join("abcd"), "other weights").unwrap();
        let error = pin.check().unwrap_err().to_string();
        assert!(error.contains("model.onnx"), "{error}");
        assert!(error.contains("SHA256SUMS"), "{error}");
        assert!(pin.keep().is_err());

        fs::write(blobs.join("abcd"), "weights").unwrap();
        pin.check().unwrap();
        fs::write(snapshot.join("added.json"), "{}").unwrap();
        assert!(pin.check().is_err(), "a file appeared");
    }
}
