//! Files below one folder, read-only.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// More of a file is not read.
const MAX_FILE: u64 = 4 << 20;
/// More files are not listed or searched.
const MAX_FILES: usize = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("{} cannot be served: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },

    #[error("{} is a file; name the folder that the server may read", path.display())]
    NoFolder { path: PathBuf },
}

/// A folder whose contents may be read, and nothing outside it.
pub struct Folder {
    root: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    #[serde(default)]
    path: String,
    #[serde(default)]
    suffix: String,
}

#[derive(Debug, Serialize)]
pub struct Listing {
    files: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    path: String,
    bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    path: String,
    head: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    query: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    suffix: String,
    #[serde(default = "Search::default_limit")]
    limit: usize,
}

impl Search {
    fn default_limit() -> usize {
        50
    }
}

#[derive(Debug, Serialize)]
pub struct Found {
    matches: Vec<Match>,
    /// Whether the limit cut something off.
    more: bool,
}

#[derive(Debug, Serialize)]
struct Match {
    path: String,
    line: usize,
    text: String,
}

impl Folder {
    pub fn new(path: &Path) -> Result<Self, FolderError> {
        let root = fs::canonicalize(path).map_err(|error| FolderError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        match root.is_dir() {
            true => Ok(Self { root }),
            false => Err(FolderError::NoFolder {
                path: path.to_owned(),
            }),
        }
    }

    /// Every file below `path`, by name; links are not followed.
    pub fn list(&self, wanted: &List) -> Result<Listing, String> {
        let files = self.files(&wanted.path, &wanted.suffix)?;
        let entry = |path: PathBuf| {
            Some(Entry {
                bytes: path.symlink_metadata().ok()?.len(),
                path: self.shown(&path),
            })
        };
        Ok(Listing {
            files: files.into_iter().filter_map(entry).collect(),
        })
    }

    pub fn read(&self, wanted: &ReadFile) -> Result<String, String> {
        let text = self.text(&wanted.path)?;
        Ok(match wanted.head {
            Some(lines) => text.lines().take(lines).collect::<Vec<_>>().join("\n"),
            None => text,
        })
    }

    /// The text of a file below the folder.
    pub fn text(&self, path: &str) -> Result<String, String> {
        let file = self.resolve(path)?;
        if !file.is_file() {
            return Err(format!("{path} is no file; list_files shows what there is"));
        }
        let mut bytes = Vec::new();
        fs::File::open(&file)
            .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
            .map_err(|error| format!("{path} cannot be read: {error}"))?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(format!("{path} is larger than {} MiB", MAX_FILE >> 20));
        }
        String::from_utf8(bytes).map_err(|_| format!("{path} is no text in UTF-8"))
    }

    /// Lines that contain the words, whatever their case.
    pub fn search(&self, wanted: &Search) -> Result<Found, String> {
        let query = wanted.query.to_lowercase();
        if query.is_empty() {
            return Err("the query is empty; name the text to look for".to_owned());
        }
        let mut matches = Vec::new();
        for file in self.files(&wanted.path, &wanted.suffix)? {
            let path = self.shown(&file);
            // What is no text has no lines to show.
            let Ok(text) = self.text(&path) else { continue };
            for (number, line) in text.lines().enumerate() {
                if !line.to_lowercase().contains(&query) {
                    continue;
                }
                if matches.len() == wanted.limit {
                    return Ok(Found {
                        matches,
                        more: true,
                    });
                }
                matches.push(Match {
                    path: path.clone(),
                    line: number + 1,
                    text: line.trim().to_owned(),
                });
            }
        }
        Ok(Found {
            matches,
            more: false,
        })
    }

    fn files(&self, below: &str, suffix: &str) -> Result<Vec<PathBuf>, String> {
        let start = self.resolve(below)?;
        if start.is_file() {
            return Ok(vec![start]);
        }
        let mut files = Vec::new();
        let mut folders = vec![start];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder)
                .map_err(|error| format!("{} cannot be listed: {error}", self.shown(&folder)))?;
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                let path = entry.path();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() && path.to_string_lossy().ends_with(suffix) {
                    files.push(path);
                }
            }
            if files.len() > MAX_FILES {
                return Err(format!(
                    "there are more than {MAX_FILES} files below {below}; name a folder in it"
                ));
            }
        }
        files.sort();
        Ok(files)
    }

    /// The place of a path, if it lies in the folder when every link is followed.
    fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let outside = || format!("{path} lies outside the folder of this server");
        let wanted = Path::new(path);
        let upward = |part| matches!(part, Component::ParentDir | Component::RootDir);
        if wanted.components().any(upward) {
            return Err(outside());
        }
        let place = fs::canonicalize(self.root.join(wanted))
            .map_err(|_| format!("there is no {path}; list_files shows what there is"))?;
        match place.starts_with(&self.root) {
            true => Ok(place),
            false => Err(outside()),
        }
    }

    fn shown(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        path.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(place.path().join("secret.txt"), "outside").unwrap();
        fs::write(root.join("a.txt"), "one\nTwo\nthree\n").unwrap();
        fs::write(root.join("sub/b.json"), "{}").unwrap();
        fs::write(root.join("raw.bin"), [0xff, 0xfe]).unwrap();
        std::os::unix::fs::symlink("../secret.txt", root.join("link")).unwrap();
        let folder = Folder::new(&root).unwrap();
        (place, folder)
    }

    fn read(folder: &Folder, path: &str) -> Result<String, String> {
        folder.text(path)
    }

    #[test]
    fn nothing_outside_the_folder_is_read() {
        let (place, folder) = folder();
        let absolute = place.path().join("secret.txt");
        for path in [
            "../secret.txt",
            "sub/../../secret.txt",
            "link",
            &absolute.to_string_lossy(),
        ] {
            let error = read(&folder, path).unwrap_err();
            assert!(error.contains("outside the folder"), "{path}: {error}");
        }
    }

    #[test]
    fn what_is_no_text_file_is_refused_in_one_sentence() {
        let (_place, folder) = folder();
        for (path, told) in [
            ("missing.txt", "there is no missing.txt"),
            ("sub", "sub is no file"),
            ("raw.bin", "no text in UTF-8"),
        ] {
            let error = read(&folder, path).unwrap_err();
            assert!(error.contains(told), "{path}: {error}");
        }
    }

    #[test]
    fn files_are_listed_below_the_folder_and_links_are_not_followed() {
        let (_place, folder) = folder();
        let all = List {
            path: String::new(),
            suffix: String::new(),
        };
        let paths: Vec<_> = folder
            .list(&all)
            .unwrap()
            .files
            .into_iter()
            .map(|file| file.path)
            .collect();
        assert_eq!(paths, ["a.txt", "raw.bin", "sub/b.json"]);
        let json = List {
            path: "sub".to_owned(),
            suffix: ".json".to_owned(),
        };
        assert_eq!(folder.list(&json).unwrap().files.len(), 1);
    }

    #[test]
    fn a_search_says_where_and_whether_there_is_more() {
        let (_place, folder) = folder();
        let search = |query: &str, limit| Search {
            query: query.to_owned(),
            path: String::new(),
            suffix: String::new(),
            limit,
        };
        let found = folder.search(&search("t", 1)).unwrap();
        assert_eq!(
            (found.matches[0].line, found.matches[0].text.as_str()),
            (2, "Two")
        );
        assert!(found.more);
        assert!(!folder.search(&search("THREE", 1)).unwrap().more);
        assert!(folder.search(&search("", 1)).is_err());
    }
}
