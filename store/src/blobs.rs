//! Large values as files: `blobs/<store id>/ab/<name in hexadecimal>`, sealed, mode 0600.
//!
//! A blob is written and removed only inside a write transaction of its database, so a blob that a
//! transaction has just begun to refer to is never removed by another process.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::key::{from_hex, to_hex};
use crate::vault::BlobName;

/// The blobs of one database.
#[derive(Debug, Clone)]
pub(crate) struct BlobFolder {
    path: PathBuf,
}

impl BlobFolder {
    /// The folder need not exist.
    pub fn new(data_folder: &Path, store_id: &str) -> Self {
        Self {
            path: data_folder.join("blobs").join(store_id),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a blob, unless it is there in full. The file is complete when it appears; with `sync` it
    /// also survives a power cut.
    pub fn put(&self, name: &BlobName, bytes: &[u8], sync: bool) -> io::Result<()> {
        let path = self.file(name);
        // A power cut can leave a file without its content: its length shows it.
        if fs::metadata(&path).is_ok_and(|file| file.len() == bytes.len() as u64) {
            return match sync {
                true => File::open(&path)?.sync_all(),
                false => Ok(()),
            };
        }
        let folder = path.parent().unwrap_or(&self.path);
        pml_files::create_private_dir(folder)?;
        // The write lock of the database makes this process the only writer of the name.
        let temporary = path.with_extension("new");
        let written = write_file(&temporary, bytes, sync)
            .and_then(|()| fs::rename(&temporary, &path))
            .and_then(|()| match sync {
                true => File::open(folder)?.sync_all(),
                false => Ok(()),
            });
        if written.is_err() {
            // The error that counts is the first one.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// The bytes of a blob.
    pub fn get(&self, name: &BlobName) -> io::Result<Vec<u8>> {
        fs::read(self.file(name))
    }

    /// Removes every blob that `is_used` does not know; returns how many.
    pub fn remove_unless<E: From<io::Error>>(
        &self,
        mut is_used: impl FnMut(&BlobName) -> Result<bool, E>,
    ) -> Result<u64, E> {
        let mut removed = 0;
        for folder in entries(&self.path)? {
            for file in entries(&folder)? {
                let name = file
                    .file_name()
                    .and_then(|name| name.to_str())
                    .and_then(from_hex);
                let Some(name) = name.and_then(|name| BlobName::try_from(name).ok()) else {
                    // What a killed process left of a blob that it was writing.
                    if file.extension().is_some_and(|extension| extension == "new") {
                        fs::remove_file(&file)?;
                    }
                    continue;
                };
                if !is_used(&name)? {
                    fs::remove_file(&file)?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    fn file(&self, name: &BlobName) -> PathBuf {
        let name = to_hex(name);
        self.path.join(&name[..2]).join(name)
    }
}

fn write_file(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    match sync {
        true => file.sync_all(),
        false => Ok(()),
    }
}

/// The paths in a folder; none if there is no folder.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_is_read_as_it_was_written_and_removed_when_unused() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = BlobFolder::new(folder.path(), "id");
        let (used, unused) = ([1; 32], [2; 32]);
        for name in [&used, &unused] {
            blobs.put(name, b"sealed", false).unwrap();
            blobs.put(name, b"sealed", true).unwrap();
        }
        assert_eq!(blobs.get(&used).unwrap(), b"sealed");
        let left = blobs.file(&used).with_extension("new");
        fs::write(&left, b"half").unwrap();
        let removed = blobs.remove_unless(|name| io::Result::Ok(*name == used));
        assert_eq!(removed.unwrap(), 1);
        assert!(blobs.get(&unused).is_err());
        assert!(blobs.get(&used).is_ok());
        assert!(!left.exists());
    }

    #[test]
    fn a_blob_that_a_power_cut_emptied_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = BlobFolder::new(folder.path(), "id");
        blobs.put(&[1; 32], b"sealed", false).unwrap();
        fs::write(blobs.file(&[1; 32]), b"").unwrap();
        blobs.put(&[1; 32], b"sealed", false).unwrap();
        assert_eq!(blobs.get(&[1; 32]).unwrap(), b"sealed");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_blobs() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let blobs = BlobFolder::new(folder.path(), "id");
        blobs.put(&[1; 32], b"sealed", false).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&blobs.file(&[1; 32])), 0o600);
        assert_eq!(mode(blobs.path()), 0o700);
    }
}
