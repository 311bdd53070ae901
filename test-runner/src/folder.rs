//! The folder that tests live in, and the files of it that they may have.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// A module larger than this is data.
const MAX_MODULE: u64 = 1 << 20;
const MODULES: [&str; 2] = ["ts", "js"];

/// A folder, and nothing outside of it: not by `..`, and not by a link.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    pub fn new(path: &Path) -> std::io::Result<Self> {
        Ok(Self {
            root: fs::canonicalize(path)?,
        })
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The text of a module, by its path from the folder.
    pub fn module(&self, path: &str) -> Result<String, String> {
        let file = self.resolve(path)?;
        let is_module = file
            .extension()
            .is_some_and(|extension| MODULES.iter().any(|known| extension == *known));
        if !is_module {
            return Err(format!(
                "{path} cannot be imported: a test imports files that end in .ts or .js"
            ));
        }
        let mut text = Vec::new();
        let read =
            File::open(&file).and_then(|file| file.take(MAX_MODULE + 1).read_to_end(&mut text));
        read.map_err(|error| format!("{path} cannot be read: {error}"))?;
        if text.len() as u64 > MAX_MODULE {
            return Err(format!("{path} is larger than {} MiB", MAX_MODULE >> 20));
        }
        String::from_utf8(text).map_err(|_| format!("{path} is no text in UTF-8"))
    }

    /// A file that is there, below the folder, whatever links lead to it.
    pub fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let outside = || format!("{path} is outside of the folder of the tests");
        let mut joined = PathBuf::new();
        for part in Path::new(path).components() {
            match part {
                Component::Normal(part) => joined.push(part),
                Component::CurDir | Component::RootDir => {}
                Component::ParentDir => {
                    if !joined.pop() {
                        return Err(outside());
                    }
                }
                Component::Prefix(_) => return Err(outside()),
            }
        }
        let file = self.root.join(joined);
        let file = fs::canonicalize(&file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound if file.with_extension("ts").is_file() => {
                format!("there is no file {path}; write the ending as well: {path}.ts")
            }
            std::io::ErrorKind::NotFound => format!("there is no file {path}"),
            _ => format!("{path} cannot be read: {error}"),
        })?;
        match file.starts_with(&self.root) && file.is_file() {
            true => Ok(file),
            false => Err(outside()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_of_the_folder_can_be_had() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("inside");
        fs::create_dir_all(inside.join("deep")).unwrap();
        fs::write(place.path().join("secret.ts"), "").unwrap();
        fs::write(inside.join("a.ts"), "a").unwrap();
        fs::write(inside.join("a.json"), "{}").unwrap();
        std::os::unix::fs::symlink(place.path().join("secret.ts"), inside.join("link.ts")).unwrap();
        std::os::unix::fs::symlink("a.ts", inside.join("deep/../same.ts")).unwrap();
        let folder = Folder::new(&inside).unwrap();
        assert_eq!(folder.module("/deep/../a.ts"), Ok("a".to_owned()));
        assert_eq!(folder.module("same.ts"), Ok("a".to_owned()));
        for (path, told) in [
            ("../secret.ts", "outside"),
            ("/../../secret.ts", "outside"),
            ("link.ts", "outside"),
            ("a", "a.ts"),
            ("b.ts", "no file"),
            ("a.json", ".ts or .js"),
            ("deep", "outside"),
        ] {
            let error = folder.module(path).unwrap_err();
            assert!(error.contains(told), "{path}: {error}");
        }
    }
}
