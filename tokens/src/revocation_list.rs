//! The revoked blocks, in a file that all processes of a user share.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::TokenError;
use crate::token_id::TokenId;

/// How long a process may go on with a list that another one has extended.
const MAX_AGE: Duration = Duration::from_millis(100);

/// A file with one id per line. It only grows, and every process sees the change within 100 ms.
#[derive(Debug)]
pub struct RevocationList {
    path: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    ids: HashSet<TokenId>,
    version: Option<FileVersion>,
    read_at: Option<Instant>,
}

/// What changes when a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileVersion {
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl RevocationList {
    /// The list in this file, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            known: Mutex::default(),
        }
    }

    /// The first of these blocks that is revoked.
    ///
    /// # Errors
    /// The file cannot be read, or has another content: then nothing may be taken for valid.
    pub fn revoked(&self, ids: &[TokenId]) -> Result<Option<TokenId>, TokenError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known
            .read_at
            .is_none_or(|read_at| read_at.elapsed() > MAX_AGE)
        {
            self.refresh(&mut known)?;
            known.read_at = Some(Instant::now());
        }
        Ok(ids.iter().find(|id| known.ids.contains(id)).copied())
    }

    /// Adds a block; returns whether it is new.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn revoke(&self, id: TokenId) -> Result<bool, TokenError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        pml_files::create_private_dir(folder).map_err(TokenError::file(folder))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.refresh(&mut known)?;
        if known.ids.contains(&id) {
            return Ok(false);
        }
        let appended = || -> io::Result<()> {
            let mut file = OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o600)
                .open(&self.path)?;
            file.write_all(format!("{id}\n").as_bytes())?;
            file.sync_all()
        };
        appended().map_err(TokenError::file(&self.path))?;
        known.ids.insert(id);
        Ok(true)
    }

    fn refresh(&self, known: &mut Known) -> Result<(), TokenError> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *known = Known::default();
                return Ok(());
            }
            Err(error) => return Err(TokenError::file(&self.path)(error)),
        };
        let metadata = file.metadata().map_err(TokenError::file(&self.path))?;
        let version = FileVersion {
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        };
        if known.version == Some(version) {
            return Ok(());
        }
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(TokenError::file(&self.path))?;
        let lines = text.lines().enumerate();
        let ids = lines.filter(|(_, line)| !line.trim().is_empty());
        let ids = ids.map(|(n, line)| {
            line.trim().parse().map_err(|_| TokenError::Line {
                path: self.path.clone(),
                line: n + 1,
            })
        });
        known.ids = ids.collect::<Result<_, _>>()?;
        known.version = Some(version);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> TokenId {
        digit.to_string().repeat(32).parse().unwrap()
    }

    #[test]
    fn another_process_sees_a_revocation_within_100_ms() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens/revoked");
        let (server, command) = (RevocationList::at(&path), RevocationList::at(&path));
        assert_eq!(server.revoked(&[id('a')]).unwrap(), None);
        assert!(command.revoke(id('a')).unwrap());
        assert!(!command.revoke(id('a')).unwrap(), "it is in the list");
        std::thread::sleep(MAX_AGE * 2);
        assert_eq!(server.revoked(&[id('b'), id('a')]).unwrap(), Some(id('a')));
        assert_eq!(server.revoked(&[id('b')]).unwrap(), None);
        assert!(command.revoke(id('b')).unwrap());
        std::thread::sleep(MAX_AGE * 2);
        assert_eq!(server.revoked(&[id('b')]).unwrap(), Some(id('b')));
    }

    #[test]
    fn a_list_that_cannot_be_read_makes_no_token_valid() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("revoked");
        std::fs::write(&path, "not an id\n").unwrap();
        let error = RevocationList::at(&path).revoked(&[id('a')]).unwrap_err();
        assert!(error.to_string().contains("in line 1"), "{error}");
        let error = RevocationList::at(folder.path()).revoked(&[id('a')]);
        assert!(error.is_err(), "a folder is no list");
    }
}
