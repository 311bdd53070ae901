//! The root folder of the tests, which bounds the files that they can read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// A module larger than this is data.
const MAX_MODULE: u64 = 1 << 20;
const MODULE_EXTENSIONS: [&str; 2] = ["ts", "js"];

/// The root folder of the tests. Neither `..` nor a symbolic link leads out of it.
#[derive(Debug, Clone)]
pub struct TestRoot {
    root: PathBuf,
}

impl TestRoot {
    /// The folder at `path`, canonicalized.
    ///
    /// # Errors
    ///
    /// The folder does not exist or cannot be read.
    pub fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            root: fs::canonicalize(path)?,
        })
    }

    /// The canonical path of the folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The text of a module, by its path relative to the root.
    pub(crate) fn module(&self, path: &str) -> Result<String, String> {
        let file = self.resolve(path)?;
        let is_module = file
            .extension()
            .is_some_and(|extension| MODULE_EXTENSIONS.iter().any(|known| extension == *known));
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
        String::from_utf8(text).map_err(|_| format!("{path} is not valid UTF-8"))
    }

    /// The canonical path of an existing file below the root.
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let outside = || format!("{path} is outside the folder of the tests");
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
            io::ErrorKind::NotFound if file.with_extension("ts").is_file() => {
                format!("there is no file {path}; write the extension as well: {path}.ts")
            }
            io::ErrorKind::NotFound => format!("there is no file {path}"),
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
    fn nothing_outside_the_root_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        fs::create_dir_all(inside.join("deep")).unwrap();
        fs::write(folder.path().join("secret.ts"), "").unwrap();
        fs::write(inside.join("a.ts"), "a").unwrap();
        fs::write(inside.join("a.json"), "{}").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret.ts"), inside.join("link.ts"))
            .unwrap();
        std::os::unix::fs::symlink("a.ts", inside.join("deep/../same.ts")).unwrap();
        let root = TestRoot::new(&inside).unwrap();
        assert_eq!(root.module("/deep/../a.ts"), Ok("a".to_owned()));
        assert_eq!(root.module("same.ts"), Ok("a".to_owned()));
        for (path, expected) in [
            ("../secret.ts", "outside"),
            ("/../../secret.ts", "outside"),
            ("link.ts", "outside"),
            ("a", "a.ts"),
            ("b.ts", "no file"),
            ("a.json", ".ts or .js"),
            ("deep", "outside"),
        ] {
            let error = root.module(path).unwrap_err();
            assert!(error.contains(expected), "{path}: {error}");
        }
    }
}
