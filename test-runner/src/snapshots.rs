//! Snapshot files: the texts that `toMatchSnapshot` compares with, in a form for code review.
//!
//! A section is a line `=== name` and the text below it. A line of the text that begins with
//! `===` or `\` is escaped with a `\`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use pml_files::{Access, write_atomic};

const HEADING: &str = "=== ";
const FILE_HEADER: &str = "Snapshots of `pml test`; `pml test --update` writes them anew.\n\n";

/// Which snapshots may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotUpdate {
    /// None: a missing snapshot fails its test. For CI.
    Nothing,
    /// Missing snapshots.
    New,
    /// All, and obsolete snapshots are removed.
    All,
}

impl SnapshotUpdate {
    /// The name in `js/75_snapshots.js`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::New => "new",
            Self::All => "all",
        }
    }
}

/// The snapshots of one test file.
#[derive(Debug, Default)]
pub struct Snapshots {
    texts: BTreeMap<String, String>,
    /// Names that a test compared with.
    used: BTreeSet<String>,
    written: BTreeSet<String>,
}

impl Snapshots {
    /// The snapshot file of a test file: `__snapshots__/a.test.ts.snap` beside `a.test.ts`.
    pub fn path_for(test: &Path) -> PathBuf {
        let mut name = test.file_name().unwrap_or_default().to_owned();
        name.push(".snap");
        test.with_file_name("__snapshots__").join(name)
    }

    /// The snapshots in a file; none if the file does not exist.
    pub fn load(file: &Path) -> io::Result<Self> {
        match fs::read_to_string(file) {
            Ok(text) => Ok(Self {
                texts: parse(&text),
                ..Self::default()
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    pub fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// Records that a test compared with a snapshot. A text is the new content.
    pub fn record(&mut self, name: String, text: Option<String>) {
        if let Some(text) = text
            && self.texts.get(&name) != Some(&text)
        {
            self.texts.insert(name.clone(), text);
            self.written.insert(name.clone());
        }
        self.used.insert(name);
    }

    /// The number of snapshots that changed.
    pub fn written(&self) -> usize {
        self.written.len()
    }

    /// The number of snapshots that no test compared with.
    pub fn obsolete(&self) -> usize {
        let is_unused = |name: &&String| !self.used.contains(*name);
        self.texts.keys().filter(is_unused).count()
    }

    /// Writes the file if a snapshot changed. Obsolete snapshots are removed only if every test of
    /// the file passed: a test that did not run may use them.
    pub fn save(
        &mut self,
        file: &Path,
        update: SnapshotUpdate,
        all_passed: bool,
    ) -> io::Result<()> {
        let mut removed = false;
        if update == SnapshotUpdate::All && all_passed {
            let before = self.texts.len();
            let used = &self.used;
            self.texts.retain(|name, _| used.contains(name));
            removed = before != self.texts.len();
        }
        if self.written.is_empty() && !removed {
            return Ok(());
        }
        if self.texts.is_empty() {
            return fs::remove_file(file);
        }
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        write_atomic(file, print(&self.texts).as_bytes(), Access::Umask)
    }
}

fn parse(text: &str) -> BTreeMap<String, String> {
    let mut sections = BTreeMap::new();
    let mut section: Option<(String, Vec<&str>)> = None;
    let mut finish = |section: Option<(String, Vec<&str>)>| {
        if let Some((name, mut lines)) = section {
            // The empty line before the next section.
            if lines.last() == Some(&"") {
                lines.pop();
            }
            sections.insert(name, lines.join("\n"));
        }
    };
    for line in text.split('\n') {
        match (line.strip_prefix(HEADING), &mut section) {
            (Some(name), _) => {
                finish(section.take());
                section = Some((name.to_owned(), Vec::new()));
            }
            (None, Some((_, lines))) => lines.push(line.strip_prefix('\\').unwrap_or(line)),
            (None, None) => {}
        }
    }
    // The end of the file is the end of a line.
    if let Some((_, lines)) = &mut section
        && lines.last() == Some(&"")
    {
        lines.pop();
    }
    finish(section);
    sections
}

fn print(texts: &BTreeMap<String, String>) -> String {
    let mut out = FILE_HEADER.to_owned();
    for (name, text) in texts {
        out.push_str(HEADING);
        out.push_str(&name.replace('\n', " "));
        out.push('\n');
        for line in text.split('\n') {
            if line.starts_with("===") || line.starts_with('\\') {
                out.push('\\');
            }
            out.push_str(line);
            out.push('\n');
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_that_is_written_is_read_again() {
        let texts: BTreeMap<String, String> = [
            ("a 1", "one line"),
            ("a 2", "=== no heading\n\\ no escape\n\nend"),
            ("b > c 1", ""),
            ("d", "ends with a line\n"),
            ("e", "\n\n"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into();
        assert_eq!(parse(&print(&texts)), texts);
        assert_eq!(parse(""), BTreeMap::new());
    }

    #[test]
    fn obsolete_snapshots_are_removed_only_by_an_update_of_a_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = Snapshots::path_for(&folder.path().join("a.test.ts"));
        let mut snapshots = Snapshots::load(&file).unwrap();
        snapshots.record("one".to_owned(), Some("1".to_owned()));
        snapshots.record("two".to_owned(), Some("2".to_owned()));
        snapshots.save(&file, SnapshotUpdate::New, true).unwrap();
        for (update, all_passed, left) in [
            (SnapshotUpdate::New, true, 2),
            (SnapshotUpdate::All, false, 2),
            (SnapshotUpdate::All, true, 1),
        ] {
            let mut snapshots = Snapshots::load(&file).unwrap();
            snapshots.record("one".to_owned(), None);
            snapshots.save(&file, update, all_passed).unwrap();
            assert_eq!(Snapshots::load(&file).unwrap().texts().len(), left);
        }
    }
}
