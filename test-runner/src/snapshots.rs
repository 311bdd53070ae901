//! Snapshots: texts that tests agreed on, in a file that people read in a review.
//!
//! A section is a line `=== name` and the text below it. A line of the text that begins with
//! `===` or `\` has a `\` in front.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const HEAD: &str = "=== ";
const INTRODUCTION: &str = "Snapshots of `pml test`; `pml test --update` writes them anew.\n\n";

/// Which snapshots may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// None: a missing one fails its test. For CI.
    Nothing,
    /// Those that are missing.
    New,
    /// All, and those that no test asks for are removed.
    All,
}

impl Update {
    /// As `js/75_snapshots.js` calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::New => "new",
            Self::All => "all",
        }
    }
}

/// The snapshots of one file of tests.
#[derive(Debug, Default)]
pub struct Snapshots {
    texts: BTreeMap<String, String>,
    asked: BTreeSet<String>,
    written: BTreeSet<String>,
}

impl Snapshots {
    /// Where they are kept: `__snapshots__/a.test.ts.snap` beside `a.test.ts`.
    pub fn file_of(test: &Path) -> PathBuf {
        let mut name = test.file_name().unwrap_or_default().to_owned();
        name.push(".snap");
        test.with_file_name("__snapshots__").join(name)
    }

    /// No file is no snapshot.
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

    /// A test asked for this one; with a text, it is to be kept.
    pub fn note(&mut self, name: String, text: Option<String>) {
        if let Some(text) = text
            && self.texts.get(&name) != Some(&text)
        {
            self.texts.insert(name.clone(), text);
            self.written.insert(name.clone());
        }
        self.asked.insert(name);
    }

    pub fn written(&self) -> usize {
        self.written.len()
    }

    pub fn obsolete(&self) -> usize {
        let unasked = |name: &&String| !self.asked.contains(*name);
        self.texts.keys().filter(unasked).count()
    }

    /// Writes what changed. `whole` says that every test of the file ran, so that what nobody
    /// asked for can go.
    pub fn save(&mut self, file: &Path, update: Update, whole: bool) -> io::Result<()> {
        let mut removed = false;
        if update == Update::All && whole {
            let before = self.texts.len();
            let asked = &self.asked;
            self.texts.retain(|name, _| asked.contains(name));
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
        let beside = file.with_extension("snap.new");
        fs::write(&beside, print(&self.texts))?;
        fs::rename(&beside, file)
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
        match (line.strip_prefix(HEAD), &mut section) {
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
    let mut out = INTRODUCTION.to_owned();
    for (name, text) in texts {
        out.push_str(HEAD);
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
    fn whatever_text_is_written_is_read_again() {
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
    fn what_no_test_asks_for_goes_only_when_all_are_updated() {
        let folder = tempfile::tempdir().unwrap();
        let file = Snapshots::file_of(&folder.path().join("a.test.ts"));
        let mut snapshots = Snapshots::load(&file).unwrap();
        snapshots.note("one".to_owned(), Some("1".to_owned()));
        snapshots.note("two".to_owned(), Some("2".to_owned()));
        snapshots.save(&file, Update::New, true).unwrap();
        for (update, whole, left) in [
            (Update::New, true, 2),
            (Update::All, false, 2),
            (Update::All, true, 1),
        ] {
            let mut snapshots = Snapshots::load(&file).unwrap();
            snapshots.note("one".to_owned(), None);
            snapshots.save(&file, update, whole).unwrap();
            assert_eq!(Snapshots::load(&file).unwrap().texts().len(), left);
        }
    }
}
