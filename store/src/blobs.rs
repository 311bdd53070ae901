//! Large values as files: `blobs/<store id>/ab/<name in hexadecimal>`, sealed, mode 0600.
//!
//! A blob is written and removed only inside a write transaction of its database, so a blob that a
//! transaction has just begun to refer to is never removed by another process.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::key::{from_hex, to_hex};
use crate::vault::BlobName;

/// The folder of files that are being written.
const UNFINISHED: &str = "new";

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
        let unfinished = self.path.join(UNFINISHED);
        pml_files::create_private_dir(folder)?;
        pml_files::create_private_dir(&unfinished)?;
        // The write lock of the database makes this process the only writer.
        let temporary = unfinished.join(to_hex(name));
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

    /// The names of all blobs.
    pub fn names(&self) -> io::Result<Vec<BlobName>> {
        let mut names = Vec::new();
        let unfinished = self.path.join(UNFINISHED);
        for folder in entries(&self.path)? {
            if folder == unfinished {
                continue;
            }
            for file in entries(&folder)? {
                let name = file.file_name().and_then(|name| name.to_str());
                let name = name.and_then(from_hex);
                names.extend(name.and_then(|name| BlobName::try_from(name).ok()));
            }
        }
        Ok(names)
    }

    /// Removes a blob.
    pub fn remove(&self, name: &BlobName) -> io::Result<()> {
        match fs::remove_file(self.file(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes what killed processes left of blobs that they were writing.
    pub fn remove_leftovers(&self) -> io::Result<()> {
        let leftovers = entries(&self.path.join(UNFINISHED))?;
        leftovers.into_iter().try_for_each(fs::remove_file)
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
    fn a_blob_is_read_as_it_was_written_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = BlobFolder::new(folder.path(), "id");
        assert_eq!(blobs.names().unwrap(), [[0; 32]; 0]);
        for sync in [false, true, false] {
            blobs.put(&[1; 32], b"sealed", sync).unwrap();
        }
        assert_eq!(blobs.get(&[1; 32]).unwrap(), b"sealed");
        let leftover = blobs.path.join(UNFINISHED).join(to_hex(&[2; 32]));
        fs::write(&leftover, b"half").unwrap();
        assert_eq!(blobs.names().unwrap(), [[1; 32]]);
        blobs.remove_leftovers().unwrap();
        assert!(!leftover.exists());
        for _ in 0..2 {
            blobs.remove(&[1; 32]).unwrap();
        }
        assert_eq!(blobs.names().unwrap(), [[0; 32]; 0]);
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
