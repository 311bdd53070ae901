//! Finding the files of tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::TestingError;

const SUFFIXES: [&str; 2] = [".test.ts", ".test.js"];
/// Folders in which nobody keeps tests of their own.
const SKIPPED: [&str; 3] = ["node_modules", "target", "__snapshots__"];
/// Entries that are looked at; a home folder by mistake should not take minutes.
const MAX_ENTRIES: usize = 200_000;

/// The files of tests below `root` whose path, from there, contains one of the patterns: all of
/// them if there is none. In the order of their names; links are not followed.
pub fn discover(root: &Path, patterns: &[String]) -> Result<Vec<PathBuf>, TestingError> {
    let mut found: Vec<PathBuf> = walk(root)?
        .into_iter()
        .filter(|path| is_test(path) && wanted(path, patterns))
        .collect();
    found.sort();
    Ok(found)
}

fn is_test(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

fn wanted(path: &Path, patterns: &[String]) -> bool {
    let path = path.to_string_lossy();
    patterns.is_empty()
        || patterns.iter().any(|pattern| {
            let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
            pattern == "." || path.contains(pattern)
        })
}

/// Every file below a folder, by its path from there.
pub(crate) fn walk(root: &Path) -> Result<Vec<PathBuf>, TestingError> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let path = root.join(&folder);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            // One folder that cannot be read does not hide the others.
            Err(_) if !folder.as_os_str().is_empty() => continue,
            Err(source) => return Err(TestingError::Folder { path, source }),
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_ENTRIES {
                return Err(TestingError::TooMany {
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
            } else if kind.is_dir() && !shown.starts_with('.') && !SKIPPED.contains(&shown.as_ref())
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
    fn files_of_tests_are_found_where_people_keep_them() {
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
