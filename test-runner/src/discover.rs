//! Test discovery: the test files below a folder.

use std::path::{Path, PathBuf};
use std::{fs, io};

const SUFFIXES: [&str; 2] = [".test.ts", ".test.js"];
/// Folders that hold generated files or the tests of dependencies.
const SKIPPED_FOLDERS: [&str; 3] = ["node_modules", "target", "__snapshots__"];
/// The limit of directory entries: a walk through a home folder by mistake must not take minutes.
const MAX_ENTRIES: usize = 200_000;

/// Why test discovery failed.
#[derive(Debug, thiserror::Error)]
pub enum DiscoveryError {
    /// The root folder cannot be listed.
    #[error("the folder {} cannot be read: {source}", path.display())]
    UnreadableFolder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There are too many files to walk through.
    #[error("there are more than {limit} files below {}; run it in the folder of the tests", path.display())]
    TooManyFiles {
        /// The root folder.
        path: PathBuf,
        /// The limit of directory entries.
        limit: usize,
    },
}

/// The test files (`*.test.ts`, `*.test.js`) below `root`, relative to it and sorted. With patterns,
/// only files whose relative path contains one of them. Symbolic links are not followed.
///
/// # Errors
///
/// `root` cannot be read, or there are more than 200 000 entries below it.
pub fn discover(root: &Path, patterns: &[String]) -> Result<Vec<PathBuf>, DiscoveryError> {
    let mut found: Vec<PathBuf> = walk(root)?
        .into_iter()
        .filter(|path| is_test(path) && matches(path, patterns))
        .collect();
    found.sort();
    Ok(found)
}

fn is_test(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

fn matches(path: &Path, patterns: &[String]) -> bool {
    let path = path.to_string_lossy();
    patterns.is_empty()
        || patterns.iter().any(|pattern| {
            let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
            pattern == "." || path.contains(pattern)
        })
}

/// Every file below a folder, by its relative path.
pub(crate) fn walk(root: &Path) -> Result<Vec<PathBuf>, DiscoveryError> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let path = root.join(&folder);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            // An unreadable subfolder does not hide the others.
            Err(_) if !folder.as_os_str().is_empty() => continue,
            Err(source) => return Err(DiscoveryError::UnreadableFolder { path, source }),
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_ENTRIES {
                return Err(DiscoveryError::TooManyFiles {
                    path: root.to_owned(),
                    limit: MAX_ENTRIES,
                });
            }
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_file() {
                files.push(folder.join(&name));
            } else if kind.is_dir()
                && !shown.starts_with('.')
                && !SKIPPED_FOLDERS.contains(&shown.as_ref())
            {
                folders.push(folder.join(&name));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_found_outside_hidden_and_generated_folders() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "b.test.ts",
            "deep/er/a.test.js",
            "deep/a.ts",
            "node_modules/x/x.test.ts",
            ".cache/y.test.ts",
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
            discover(folder.path(), &patterns).unwrap()
        };
        let all = [PathBuf::from("b.test.ts"), "deep/er/a.test.js".into()];
        assert_eq!(found(&[]), all);
        assert_eq!(found(&["."]), all);
        assert_eq!(found(&["./deep"]), all[1..]);
        assert_eq!(found(&["nothing"]), Vec::<PathBuf>::new());
    }
}
