//! The files that the patterns of an entry mean.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files of one entry.
pub const MAX_FILES: usize = 1_000;
/// Folders inside of each other that a pattern with `**` looks into.
const MAX_DEPTH: usize = 16;
/// Folders and files that are looked at for one entry.
const MAX_SEEN: usize = 100_000;

/// A file and its state when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    pub path: PathBuf,
    pub bytes: u64,
    pub changed: Option<SystemTime>,
}

/// The files below `folder` that match one of the patterns, sorted. Type declarations (`.d.ts`), tests
/// (`.test.ts`), hidden files and `node_modules` are left out.
///
/// # Errors
/// There are too many of them.
pub fn find(folder: &Path, patterns: &[String]) -> Result<Vec<FoundFile>, String> {
    let mut search = Search {
        found: Vec::new(),
        seen: 0,
    };
    for pattern in patterns {
        let (base, parts) = split(folder, pattern);
        search.walk(&base, &parts, 0)?;
    }
    search.found.sort_by(|a, b| a.path.cmp(&b.path));
    search.found.dedup_by(|a, b| a.path == b.path);
    Ok(search.found)
}

/// Where a pattern begins, and its parts from there.
fn split<'a>(folder: &Path, pattern: &'a str) -> (PathBuf, Vec<&'a str>) {
    let mut base = match pattern.starts_with('/') {
        true => PathBuf::from("/"),
        false => folder.to_owned(),
    };
    let mut parts: Vec<&str> = pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    while parts.len() > 1 && !parts[0].contains(['*', '?']) {
        base.push(parts.remove(0));
    }
    (base, parts)
}

struct Search {
    found: Vec<FoundFile>,
    seen: usize,
}

impl Search {
    fn walk(&mut self, folder: &Path, parts: &[&str], depth: usize) -> Result<(), String> {
        let Some((part, rest)) = parts.split_first() else {
            return Ok(());
        };
        if *part == "**" {
            self.walk(folder, rest, depth)?;
        }
        if depth > MAX_DEPTH {
            return Ok(());
        }
        // A folder that does not exist has no files.
        let Ok(entries) = std::fs::read_dir(folder) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            self.seen += 1;
            if self.seen > MAX_SEEN || self.found.len() > MAX_FILES {
                return Err(format!(
                    "its patterns mean more than {MAX_FILES} files, or folders with more than {MAX_SEEN} files: name the folder of the functions"
                ));
            }
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name == "node_modules" || (name.starts_with('.') && !part.starts_with('.')) {
                continue;
            }
            let Ok(metadata) = std::fs::metadata(entry.path()) else {
                continue;
            };
            if metadata.is_dir() {
                match *part {
                    "**" => self.walk(&entry.path(), parts, depth + 1)?,
                    part if !rest.is_empty() && matches(part, &name) => {
                        self.walk(&entry.path(), rest, depth + 1)?;
                    }
                    _ => {}
                }
            } else if metadata.is_file()
                && rest.is_empty()
                && matches(part, &name)
                && is_functions(&name)
            {
                self.found.push(FoundFile {
                    path: entry.path(),
                    bytes: metadata.len(),
                    changed: metadata.modified().ok(),
                });
            }
        }
        Ok(())
    }
}

fn is_functions(name: &str) -> bool {
    let is_script = [".ts", ".mts", ".js", ".mjs"]
        .iter()
        .any(|end| name.ends_with(end));
    is_script && !name.ends_with(".d.ts") && !name.contains(".test.")
}

/// Whether a name matches a pattern with `*` and `?`.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    // Where the last `*` was, and the name when it was met: it takes one character more each time.
    let mut star = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                Some((star_at, taken)) => {
                    star = Some((star_at, taken + 1));
                    at = star_at + 1;
                    in_name = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_files_and_leave_out_tests_declarations_and_packages() {
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "tools/a.ts",
            "tools/b.js",
            "tools/b.test.ts",
            "tools/types.d.ts",
            "tools/readme.md",
            "tools/deep/c.ts",
            "tools/.hidden.ts",
            "tools/node_modules/x/d.ts",
            "other/e.ts",
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let names = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
            let found = find(folder.path(), &patterns).unwrap();
            let name = |file: FoundFile| {
                let name = file.path.strip_prefix(folder.path()).unwrap().to_owned();
                name.display().to_string()
            };
            found.into_iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["tools/*.ts"]), ["tools/a.ts"]);
        assert_eq!(names(&["./tools/a.ts"]), ["tools/a.ts"]);
        assert_eq!(
            names(&["tools/**/*.ts", "tools/*"]),
            ["tools/a.ts", "tools/b.js", "tools/deep/c.ts"]
        );
        assert_eq!(names(&["*/?.ts"]), ["other/e.ts", "tools/a.ts"]);
        assert_eq!(names(&["missing/*.ts"]), Vec::<String>::new());
    }

    #[test]
    fn a_pattern_of_stars_takes_no_exponential_time() {
        let pattern = "*a".repeat(40);
        assert!(!matches(&pattern, &"a".repeat(39)));
        assert!(matches(&pattern, &"a".repeat(200)));
    }
}
