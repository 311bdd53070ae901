//! What was asked before a tool was called with success: the words people have for it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::words::{is_filler, stems};

const FILE: &str = "asked.json";
/// A word counts no more than this often: one script that runs every night is one opinion.
const MOST_TIMES: u8 = 5;
/// Words of one tool.
const MOST_WORDS: usize = 64;
const MOST_TOOLS: usize = 5_000;

/// The words of queries that led to a tool, by tool. Words only: what a query said cannot be put
/// together from them again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Asked {
    tools: BTreeMap<String, BTreeMap<String, u8>>,
}

impl Asked {
    /// What is kept in a folder; nothing where there is none, or it cannot be read.
    pub fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Adds to what is kept in a folder. The file is replaced in one step; where two processes do
    /// that at once, one of them learned for nothing.
    pub fn keep(self, folder: &Path) -> io::Result<()> {
        let mut all = Self::read(folder);
        for (tool, words) in self.tools {
            all.add(&tool, words);
        }
        fs::create_dir_all(folder)?;
        let draft: PathBuf = folder.join(format!("{FILE}.{}", std::process::id()));
        fs::write(&draft, serde_json::to_vec(&all)?)?;
        fs::rename(draft, folder.join(FILE))
    }

    /// A query led to a successful call of a tool.
    pub fn learn(&mut self, query: &str, tool: &str) {
        let words = stems(query).into_iter();
        let telling =
            words.filter(|stem| !is_filler(stem) && stem.chars().all(char::is_alphabetic));
        self.add(tool, telling.map(|stem| (stem, 1)).collect());
    }

    /// The words for a tool, each as often as it was asked for.
    pub fn words(&self, tool: &str) -> Vec<String> {
        let words = self.tools.get(tool).into_iter().flatten();
        words
            .flat_map(|(word, &times)| std::iter::repeat_n(word.clone(), usize::from(times)))
            .collect()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    fn add(&mut self, tool: &str, words: BTreeMap<String, u8>) {
        if words.is_empty() || (self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(tool)) {
            return;
        }
        let known = self.tools.entry(tool.to_owned()).or_default();
        for (word, times) in words {
            let sum = known.entry(word).or_default();
            *sum = sum.saturating_add(times).min(MOST_TIMES);
        }
        while known.len() > MOST_WORDS {
            let rarest = known.iter().min_by_key(|(_, times)| **times);
            let Some(rarest) = rarest.map(|(word, _)| word.clone()) else {
                break;
            };
            known.remove(&rarest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_and_add_up() {
        let folder = tempfile::tempdir().unwrap();
        for query in ["show me the latest invoices", "invoices of 2024"] {
            let mut asked = Asked::default();
            asked.learn(query, "books:list");
            asked.keep(folder.path()).unwrap();
        }
        let kept = Asked::read(folder.path());
        assert_eq!(
            kept.words("books:list"),
            ["invoic", "invoic", "latest", "show"]
        );
        assert!(kept.words("books:other").is_empty());
    }

    #[test]
    fn one_tool_cannot_fill_the_file() {
        let mut asked = Asked::default();
        for n in 0..500_u32 {
            let word: String = n
                .to_string()
                .chars()
                .map(|c| (c as u8 + 49) as char)
                .collect();
            asked.learn(&format!("common {word}"), "a:b");
        }
        let words = asked.words("a:b");
        assert!(
            words.len() <= MOST_WORDS - 1 + usize::from(MOST_TIMES),
            "{}",
            words.len()
        );
        assert_eq!(words.iter().filter(|word| *word == "common").count(), 5);
    }

    #[test]
    fn a_damaged_file_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "{ \"a:b\": 7").unwrap();
        assert!(Asked::read(folder.path()).is_empty());
    }
}
