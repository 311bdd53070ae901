//! Files that are complete or not there at all.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// The permissions of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// What the umask of the process leaves.
    Umask,
    /// Mode 0600: only the owner can read it. On Windows, the folder's permissions hold.
    OwnerOnly,
}

/// Replaces `path` with `bytes`, or creates it: writes a temporary file beside it, fsyncs that and
/// renames it over `path`.
///
/// A reader sees the old file or the new one and never a part of it, also after a crash. Of two
/// writers at the same time, one wins. The temporary file, which may hold secrets, is removed if a
/// step fails.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// use pml_files::{Access, write_atomic};
///
/// let path = folder.path().join("token.json");
/// write_atomic(&path, b"{}", Access::OwnerOnly)?;
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The folder does not exist or cannot be written, or the disk is full.
pub fn write_atomic(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    let unique = (std::process::id(), fastrand::u32(..));
    temporary.push(format!(".{}-{:08x}.new", unique.0, unique.1));
    let temporary = Path::new(&temporary);
    let written = create_new(temporary, bytes, access).and_then(|()| fs::rename(temporary, path));
    if written.is_err() {
        // The error that counts is the first one.
        let _ = fs::remove_file(temporary);
    }
    written
}

/// Creates `path` with `bytes` and fsyncs it.
///
/// # Errors
/// As [`write_atomic`], and [`io::ErrorKind::AlreadyExists`] if there is anything at `path`, also a
/// dangling symbolic link. Checking and creating are one step.
pub fn create_new(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access == Access::OwnerOnly {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = access;
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Creates a folder and its parents, with mode 0700. A folder that exists keeps its mode.
///
/// # Errors
/// A parent cannot be written, or is not a folder.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.json");
        write_atomic(&path, b"old", Access::Umask).unwrap();
        write_atomic(&path, b"new", Access::OwnerOnly).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.json");
        fs::create_dir(&path).unwrap();
        assert!(write_atomic(&path, b"text", Access::Umask).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_existing_file_is_not_created_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.json");
        create_new(&path, b"first", Access::Umask).unwrap();
        let error = create_new(&path, b"second", Access::Umask).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_a_private_file_or_folder() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/b");
        create_private_dir(&folder).unwrap();
        create_private_dir(&folder).unwrap();
        assert_eq!(mode(&folder), 0o700);
        let path = folder.join("secret");
        write_atomic(&path, b"1", Access::Umask).unwrap();
        write_atomic(&path, b"2", Access::OwnerOnly).unwrap();
        assert_eq!(mode(&path), 0o600);
    }
}
