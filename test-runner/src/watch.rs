//! Notices which files below a folder changed, by looking.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::TestingError;
use crate::discover::walk;

/// Files that tests can have a part of.
const ENDINGS: [&str; 4] = ["ts", "js", "json", "snap"];

type Stamp = (Option<SystemTime>, u64);

/// What the files looked like the last time.
pub struct Watch {
    root: PathBuf,
    seen: HashMap<PathBuf, Stamp>,
}

impl Watch {
    pub fn new(root: &Path) -> Result<Self, TestingError> {
        let mut watch = Self {
            root: root.to_owned(),
            seen: HashMap::new(),
        };
        watch.changed()?;
        Ok(watch)
    }

    /// The files that are new, other than before, or gone since the last look.
    pub fn changed(&mut self) -> Result<Vec<PathBuf>, TestingError> {
        let mut now = HashMap::new();
        for path in walk(&self.root)? {
            let ending = path.extension().and_then(|ending| ending.to_str());
            if !ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
                continue;
            }
            // A file that went away between the two looks is gone.
            if let Ok(metadata) = self.root.join(&path).metadata() {
                now.insert(path, (metadata.modified().ok(), metadata.len()));
            }
        }
        let before = std::mem::replace(&mut self.seen, now);
        let mut changed: Vec<PathBuf> = self
            .seen
            .iter()
            .filter(|(path, stamp)| before.get(*path) != Some(stamp))
            .map(|(path, _)| path.clone())
            .chain(
                before
                    .keys()
                    .filter(|path| !self.seen.contains_key(*path))
                    .cloned(),
            )
            .collect();
        changed.sort();
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn new_changed_and_removed_files_are_noticed_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("a.ts"), "1").unwrap();
        fs::write(file("gone.ts"), "1").unwrap();
        let mut watch = Watch::new(folder.path()).unwrap();
        assert_eq!(watch.changed().unwrap(), Vec::<PathBuf>::new());
        fs::write(file("a.ts"), "12").unwrap();
        fs::write(file("b.ts"), "1").unwrap();
        fs::write(file("notes.txt"), "1").unwrap();
        fs::remove_file(file("gone.ts")).unwrap();
        let changed: Vec<PathBuf> = ["a.ts", "b.ts", "gone.ts"].map(PathBuf::from).into();
        assert_eq!(watch.changed().unwrap(), changed);
        assert_eq!(watch.changed().unwrap(), Vec::<PathBuf>::new());
    }
}
