//! Read-only access to the files below one folder.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Size limit of a file in bytes.
const MAX_FILE: u64 = 4 << 20;
/// Highest number of files that are listed or searched.
const MAX_FILES: usize = 10_000;

/// The folder cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder does not exist or cannot be read.
    #[error("{} cannot be served: {error}", path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },

    /// The path is that of a file.
    #[error("{} is a file; name the folder that the server may read", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
}

/// The folder that the server may read; nothing outside of it is accessible.
pub struct ServedFolder {
    root: PathBuf,
}

/// Arguments of `list_files`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    #[serde(default)]
    path: String,
    #[serde(default)]
    suffix: String,
}

/// Result of `list_files`.
#[derive(Debug, Serialize)]
pub struct FileList {
    files: Vec<FileEntry>,
}

#[derive(Debug, Serialize)]
struct FileEntry {
    path: String,
    bytes: u64,
}

/// Arguments of `read_file`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    path: String,
    head: Option<usize>,
}

/// Arguments of `search_text`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchText {
    query: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    suffix: String,
    #[serde(default = "SearchText::default_limit")]
    limit: usize,
}

impl SearchText {
    fn default_limit() -> usize {
        50
    }
}

/// Result of `search_text`.
#[derive(Debug, Serialize)]
pub struct TextMatches {
    matches: Vec<LineMatch>,
    /// Whether the limit left some matches out.
    more: bool,
}

#[derive(Debug, Serialize)]
struct LineMatch {
    path: String,
    line: usize,
    text: String,
}

impl ServedFolder {
    /// Serves the folder at `path`.
    ///
    /// # Errors
    ///
    /// If the path cannot be read or is that of a file.
    pub fn new(path: &Path) -> Result<Self, FolderError> {
        let root = fs::canonicalize(path).map_err(|error| FolderError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        match root.is_dir() {
            true => Ok(Self { root }),
            false => Err(FolderError::NotAFolder {
                path: path.to_owned(),
            }),
        }
    }

    /// Lists every file below a path, sorted; symbolic links are not followed.
    pub fn list(&self, request: &ListFiles) -> Result<FileList, String> {
        let files = self.files(&request.path, &request.suffix)?;
        let entry = |path: PathBuf| {
            Some(FileEntry {
                bytes: path.symlink_metadata().ok()?.len(),
                path: self.relative(&path),
            })
        };
        Ok(FileList {
            files: files.into_iter().filter_map(entry).collect(),
        })
    }

    /// The text of a file, or its first lines.
    pub fn read(&self, request: &ReadFile) -> Result<String, String> {
        let text = self.text(&request.path)?;
        Ok(match request.head {
            Some(lines) => text.lines().take(lines).collect::<Vec<_>>().join("\n"),
            None => text,
        })
    }

    /// The text of a file below the folder.
    pub fn text(&self, path: &str) -> Result<String, String> {
        let file = self.resolve(path)?;
        if !file.is_file() {
            return Err(format!(
                "{path} is not a file; list_files shows what there is"
            ));
        }
        let mut bytes = Vec::new();
        fs::File::open(&file)
            .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
            .map_err(|error| format!("{path} cannot be read: {error}"))?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(format!("{path} is larger than {} MiB", MAX_FILE >> 20));
        }
        String::from_utf8(bytes).map_err(|_| format!("{path} is not UTF-8 text"))
    }

    /// Finds the lines that contain a text, ignoring case.
    pub fn search(&self, request: &SearchText) -> Result<TextMatches, String> {
        let query = request.query.to_lowercase();
        if query.is_empty() {
            return Err("the query is empty; name the text to look for".to_owned());
        }
        let mut matches = Vec::new();
        for file in self.files(&request.path, &request.suffix)? {
            let path = self.relative(&file);
            // Skips files that are not text, too large or gone.
            let Ok(text) = self.text(&path) else { continue };
            for (number, line) in text.lines().enumerate() {
                if !line.to_lowercase().contains(&query) {
                    continue;
                }
                if matches.len() == request.limit {
                    return Ok(TextMatches {
                        matches,
                        more: true,
                    });
                }
                matches.push(LineMatch {
                    path: path.clone(),
                    line: number + 1,
                    text: line.trim().to_owned(),
                });
            }
        }
        Ok(TextMatches {
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
                .map_err(|error| format!("{} cannot be listed: {error}", self.relative(&folder)))?;
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

    /// Resolves a path with all its links; an error if the result lies outside of the folder.
    fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let outside = || format!("{path} lies outside the folder of this server");
        let relative = Path::new(path);
        let upward = |part| matches!(part, Component::ParentDir | Component::RootDir);
        if relative.components().any(upward) {
            return Err(outside());
        }
        let resolved = fs::canonicalize(self.root.join(relative))
            .map_err(|_| format!("there is no {path}; list_files shows what there is"))?;
        match resolved.starts_with(&self.root) {
            true => Ok(resolved),
            false => Err(outside()),
        }
    }

    /// A path relative to the folder, for results and messages.
    fn relative(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        path.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, ServedFolder) {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(outer.path().join("secret.txt"), "outside").unwrap();
        fs::write(root.join("a.txt"), "one\nTwo\nthree\n").unwrap();
        fs::write(root.join("sub/b.json"), "{}").unwrap();
        fs::write(root.join("raw.bin"), [0xff, 0xfe]).unwrap();
        std::os::unix::fs::symlink("../secret.txt", root.join("link")).unwrap();
        let folder = ServedFolder::new(&root).unwrap();
        (outer, folder)
    }

    fn read(folder: &ServedFolder, path: &str) -> Result<String, String> {
        folder.text(path)
    }

    #[test]
    fn nothing_outside_the_folder_is_read() {
        let (outer, folder) = folder();
        let absolute = outer.path().join("secret.txt");
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
    fn a_path_that_is_not_a_text_file_is_refused_in_one_sentence() {
        let (_outer, folder) = folder();
        for (path, expected) in [
            ("missing.txt", "there is no missing.txt"),
            ("sub", "sub is not a file"),
            ("raw.bin", "is not UTF-8 text"),
        ] {
            let error = read(&folder, path).unwrap_err();
            assert!(error.contains(expected), "{path}: {error}");
        }
    }

    #[test]
    fn files_are_listed_below_the_folder_and_links_are_not_followed() {
        let (_outer, folder) = folder();
        let all = ListFiles {
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
        let json = ListFiles {
            path: "sub".to_owned(),
            suffix: ".json".to_owned(),
        };
        assert_eq!(folder.list(&json).unwrap().files.len(), 1);
    }

    #[test]
    fn a_search_says_where_and_whether_there_is_more() {
        let (_outer, folder) = folder();
        let search = |query: &str, limit| SearchText {
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
