//! Programs on the `PATH`, without its relative entries.
//!
//! An empty entry, `.` or any other relative path in `PATH` names the working folder, which may belong
//! to a project that the user only looks at. `pml` never executes a program from there.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The `PATH` of this process with its absolute entries only; `None` if it has none.
pub fn absolute_search_path() -> Option<OsString> {
    absolute_entries(&env::var_os("PATH")?)
}

/// The entries of a `PATH` that are absolute; `None` if there are none. An empty `PATH` would mean
/// the working folder.
pub fn absolute_entries(path: &OsStr) -> Option<OsString> {
    let entries: Vec<PathBuf> = env::split_paths(path)
        .filter(|entry| entry.is_absolute())
        .collect();
    let joined = env::join_paths(entries).ok()?;
    (!joined.is_empty()).then_some(joined)
}

/// The program `name` on the absolute entries of the `PATH`.
pub fn find_executable(name: &str) -> Option<PathBuf> {
    find_in(&absolute_search_path()?, name)
}

fn find_in(path: &OsStr, name: &str) -> Option<PathBuf> {
    env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|program| is_executable(program))
}

#[cfg(unix)]
fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    program
        .metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(program: &Path) -> bool {
    program.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn relative_entries_of_the_path_are_not_searched() {
        for path in ["", ".", ":", "bin:./tools", "..:."] {
            assert_eq!(absolute_entries(OsStr::new(path)), None, "{path:?}");
        }
        let mixed = absolute_entries(OsStr::new(".:/usr/bin::node_modules/.bin:/bin"));
        assert_eq!(mixed.as_deref(), Some(OsStr::new("/usr/bin:/bin")));
    }

    #[test]
    fn a_file_that_cannot_be_executed_is_passed_over() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("tool");
        std::fs::write(&program, "").unwrap();
        let path = folder.path().as_os_str();
        assert_eq!(find_in(path, "tool"), None);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find_in(path, "tool"), Some(program));
    }
}
