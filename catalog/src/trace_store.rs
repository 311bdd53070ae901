//! The traces of runs of a configuration: a file of lines, to which every run adds one.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pml_files::{Access, create_private_dir, write_atomic};

use crate::{CatalogError, ConfigFingerprint};

/// The size from which on the older half of a file is deleted.
const MAX_BYTES: u64 = 8 << 20;

/// A folder with a file of traces for each configuration. It is created by the first trace.
#[derive(Debug, Clone)]
pub struct TraceStore {
    folder: PathBuf,
}

impl TraceStore {
    /// A store in `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The file of a configuration; an edit of the configuration does not change it.
    pub fn path(&self, config: &ConfigFingerprint) -> PathBuf {
        self.folder.join(format!("{}.jsonl", config.name()))
    }

    /// The lines of a configuration, the oldest first.
    ///
    /// # Errors
    ///
    /// If the file exists but cannot be read.
    pub fn lines(&self, config: &ConfigFingerprint) -> Result<Vec<String>, CatalogError> {
        let path = self.path(config);
        match fs::read(&path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                Ok(text.lines().map(str::to_owned).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(CatalogError::Read { path, source }),
        }
    }

    /// Adds lines, which must not contain line ends. Processes that add at the same time do not lose lines.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn append(&self, config: &ConfigFingerprint, lines: &[String]) -> Result<(), CatalogError> {
        if lines.is_empty() {
            return Ok(());
        }
        let path = self.path(config);
        let mut text = lines.join("\n");
        text.push('\n');
        append(&self.folder, &path, &text)
            .and_then(|bytes| match bytes > MAX_BYTES {
                true => delete_older_half(&path),
                false => Ok(()),
            })
            .map_err(|source| CatalogError::Write { path, source })
    }

    /// Keeps the lines for which `keep` says so, and returns how many were deleted.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written.
    pub fn retain(
        &self,
        config: &ConfigFingerprint,
        keep: impl Fn(&str) -> bool,
    ) -> Result<usize, CatalogError> {
        let lines = self.lines(config)?;
        let kept: String = lines
            .iter()
            .filter(|line| keep(line))
            .flat_map(|line| [line, "\n"])
            .collect();
        let deleted = lines.iter().filter(|line| !keep(line)).count();
        let path = self.path(config);
        let written = match (deleted, kept.is_empty()) {
            (0, _) => Ok(()),
            (_, true) => fs::remove_file(&path),
            _ => write_atomic(&path, kept.as_bytes(), Access::OwnerOnly),
        };
        written.map_err(|source| CatalogError::Write { path, source })?;
        Ok(deleted)
    }
}

/// Adds text to a file, and returns its new size.
fn append(folder: &Path, path: &Path, text: &str) -> io::Result<u64> {
    create_private_dir(folder)?;
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    // One write: lines of other processes do not come between.
    file.write_all(text.as_bytes())?;
    Ok(file.metadata()?.len())
}

fn delete_older_half(path: &Path) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let middle = bytes.len() / 2;
    let end = bytes[middle..].iter().position(|byte| *byte == b'\n');
    let newer = end.map_or(&[][..], |end| &bytes[middle + end + 1..]);
    write_atomic(path, newer, Access::OwnerOnly)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> ConfigFingerprint {
        ConfigFingerprint::new(Path::new("/nowhere/.mcp.json"), b"{}")
    }

    #[test]
    fn lines_are_added_and_those_of_one_principal_can_be_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let store = TraceStore::new(folder.path().join("learn"));
        assert!(store.lines(&config()).unwrap().is_empty());
        store
            .append(&config(), &["a 1".into(), "b 2".into()])
            .unwrap();
        store.append(&config(), &["a 3".into()]).unwrap();
        assert_eq!(store.lines(&config()).unwrap(), ["a 1", "b 2", "a 3"]);
        let deleted = store.retain(&config(), |line| !line.starts_with('a'));
        assert_eq!(deleted.unwrap(), 2);
        assert_eq!(store.lines(&config()).unwrap(), ["b 2"]);
        assert_eq!(store.retain(&config(), |_| false).unwrap(), 1);
        assert!(!store.path(&config()).exists());
    }

    #[test]
    fn a_large_file_loses_its_older_half() {
        let folder = tempfile::tempdir().unwrap();
        let store = TraceStore::new(folder.path());
        let line = "x".repeat(1 << 20);
        for n in 0..9 {
            store.append(&config(), &[format!("{n}{line}")]).unwrap();
        }
        let lines = store.lines(&config()).unwrap();
        assert!((4..=5).contains(&lines.len()), "{}", lines.len());
        assert!(lines.last().unwrap().starts_with('8'));
    }
}
