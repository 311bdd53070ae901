//! Watches the files below a folder by polling their metadata.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::discover::{DiscoveryError, walk};

/// Extensions of files that tests can depend on.
const EXTENSIONS: [&str; 4] = ["ts", "js", "json", "snap"];

/// Modification time and size.
type Stamp = (Option<SystemTime>, u64);

/// The state of the files at the last poll.
pub struct FileWatcher {
    root: PathBuf,
    seen: HashMap<PathBuf, Stamp>,
}

impl FileWatcher {
    /// Watches the files below `root` from now on.
    ///
    /// # Errors
    ///
    /// As [`crate::discover`].
    pub fn new(root: &Path) -> Result<Self, DiscoveryError> {
        let mut watcher = Self {
            root: root.to_owned(),
            seen: HashMap::new(),
        };
        watcher.changed()?;
        Ok(watcher)
    }

    /// The files that were created, changed or removed since the last call, relative to the root and
    /// sorted.
    ///
    /// # Errors
    ///
    /// As [`crate::discover`].
    pub fn changed(&mut self) -> Result<Vec<PathBuf>, DiscoveryError> {
        let mut now = HashMap::new();
        for path in walk(&self.root)? {
            let extension = path.extension().and_then(|extension| extension.to_str());
            if !extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
                continue;
            }
            // A file that vanished after it was listed counts as removed.
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
        let mut watcher = FileWatcher::new(folder.path()).unwrap();
        assert_eq!(watcher.changed().unwrap(), Vec::<PathBuf>::new());
        fs::write(file("a.ts"), "12").unwrap();
        fs::write(file("b.ts"), "1").unwrap();
        fs::write(file("notes.txt"), "1").unwrap();
        fs::remove_file(file("gone.ts")).unwrap();
        let changed: Vec<PathBuf> = ["a.ts", "b.ts", "gone.ts"].map(PathBuf::from).into();
        assert_eq!(watcher.changed().unwrap(), changed);
        assert_eq!(watcher.changed().unwrap(), Vec::<PathBuf>::new());
    }
}
