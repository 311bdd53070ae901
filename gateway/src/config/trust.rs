//! The configuration files of projects that the user trusts.
//!
//! A file in a folder that was cloned or unpacked names programs to start and variables to pass on. It
//! is used once the user has trusted this content at this path; a change of either needs a new
//! decision.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Trusted files, one small record for each, in a folder of the user.
#[derive(Debug, Clone)]
pub struct TrustStore {
    folder: PathBuf,
}

/// A trusted file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedFile {
    /// Its absolute path, without symbolic links.
    pub file: PathBuf,
    /// The SHA-256 of its content, in hexadecimal.
    pub sha256: String,
}

impl TrustStore {
    /// The store of the current user; `None` without a home folder.
    pub fn of_user() -> Option<Self> {
        Some(Self::new(pml_files::data_dir()?.join("trust")))
    }

    /// The store in `folder`, which is created when a file is trusted.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Whether the user trusts `text` as the content of `file`.
    pub fn trusts(&self, file: &Path, text: &str) -> bool {
        let Ok(file) = file.canonicalize() else {
            return false;
        };
        let record = std::fs::read(self.record(&file)).unwrap_or_default();
        serde_json::from_slice::<TrustedFile>(&record)
            .is_ok_and(|record| record.file == file && record.sha256 == hex_digest(text.as_bytes()))
    }

    /// Trusts `text` as the content of `file`.
    ///
    /// # Errors
    /// The file does not exist, or the record cannot be written.
    pub fn trust(&self, file: &Path, text: &str) -> io::Result<TrustedFile> {
        let record = TrustedFile {
            file: file.canonicalize()?,
            sha256: hex_digest(text.as_bytes()),
        };
        pml_files::create_private_dir(&self.folder)?;
        pml_files::write_atomic(
            &self.record(&record.file),
            &serde_json::to_vec(&record)?,
            pml_files::Access::OwnerOnly,
        )?;
        Ok(record)
    }

    /// All trusted files, by path.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> io::Result<Vec<TrustedFile>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files: Vec<TrustedFile> = entries
            .filter_map(|entry| {
                serde_json::from_slice(&std::fs::read(entry.ok()?.path()).ok()?).ok()
            })
            .collect();
        files.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(files)
    }

    /// Forgets `file`. `false` means that it was not trusted.
    ///
    /// # Errors
    /// The record cannot be deleted.
    pub fn remove(&self, file: &Path) -> io::Result<bool> {
        // A file that is gone has the path under which it was trusted.
        let file = file.canonicalize().or_else(|_| std::path::absolute(file))?;
        match std::fs::remove_file(self.record(&file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    /// The record of a file, named after its path.
    fn record(&self, file: &Path) -> PathBuf {
        let name = hex_digest(file.as_os_str().as_encoded_bytes());
        self.folder.join(format!("{name}.json"))
    }
}

fn hex_digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_ends_with_a_change_of_the_content_or_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let store = TrustStore::new(folder.path().join("data/trust"));
        let [one, two] = ["one.json", "two.json"].map(|name| folder.path().join(name));
        std::fs::write(&one, "{}").unwrap();
        std::fs::write(&two, "{}").unwrap();
        assert!(!store.trusts(&one, "{}"));
        assert_eq!(store.list().unwrap(), []);
        let trusted = store.trust(&one, "{}").unwrap();
        assert!(store.trusts(&one, "{}"));
        assert!(!store.trusts(&one, "{ }"));
        assert!(!store.trusts(&two, "{}"));
        assert_eq!(store.list().unwrap(), [trusted]);
        assert!(store.remove(&one).unwrap());
        assert!(!store.remove(&one).unwrap());
        assert!(!store.trusts(&one, "{}"));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_write_what_is_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("m.json");
        std::fs::write(&file, "{}").unwrap();
        let store = TrustStore::new(folder.path().join("trust"));
        store.trust(&file, "{}").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&store.folder), 0o700);
        assert_eq!(mode(&store.record(&file.canonicalize().unwrap())), 0o600);
    }
}
