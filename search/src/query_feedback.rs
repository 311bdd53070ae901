//! Relevance feedback: the words of queries that were followed by a successful call of a tool.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use pml_files::{Access, write_atomic};
use serde::{Deserialize, Serialize};

use crate::stems::{is_stop_word, stems};

const FILE: &str = "asked.json";
/// Highest count of one word: a script that runs every night must not outvote everything else.
const MAX_COUNT: u8 = 5;
/// Words kept for one tool.
const MAX_WORDS: usize = 64;
const MAX_TOOLS: usize = 5_000;

/// Stems of the queries that led to each tool, with their counts. Only stems are kept: a query cannot
/// be reconstructed from them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QueryFeedback {
    tools: BTreeMap<String, BTreeMap<String, u8>>,
}

impl QueryFeedback {
    /// Reads the feedback of an index folder. A missing or damaged file reads as empty.
    pub fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Adds this feedback to the file of an index folder. The file is replaced atomically; if two
    /// processes write at once, the feedback of one of them is lost.
    ///
    /// # Errors
    ///
    /// If the folder or the file cannot be written.
    pub fn merge_into(self, folder: &Path) -> io::Result<()> {
        let mut all = Self::read(folder);
        for (tool, words) in self.tools {
            all.add(&tool, words);
        }
        fs::create_dir_all(folder)?;
        let bytes = serde_json::to_vec(&all)?;
        write_atomic(&folder.join(FILE), &bytes, Access::Umask)
    }

    /// Records that `query` was followed by a successful call of `tool`.
    pub fn record(&mut self, query: &str, tool: &str) {
        let words = stems(query).into_iter();
        let content_words =
            words.filter(|stem| !is_stop_word(stem) && stem.chars().all(char::is_alphabetic));
        self.add(tool, content_words.map(|stem| (stem, 1)).collect());
    }

    /// The stems for a tool, each repeated as often as it was recorded.
    pub fn words(&self, tool: &str) -> Vec<String> {
        let words = self.tools.get(tool).into_iter().flatten();
        words
            .flat_map(|(word, &count)| std::iter::repeat_n(word.clone(), usize::from(count)))
            .collect()
    }

    /// Whether no feedback is recorded.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    fn add(&mut self, tool: &str, words: BTreeMap<String, u8>) {
        if words.is_empty() || (self.tools.len() >= MAX_TOOLS && !self.tools.contains_key(tool)) {
            return;
        }
        let counts = self.tools.entry(tool.to_owned()).or_default();
        for (word, count) in words {
            let sum = counts.entry(word).or_default();
            *sum = sum.saturating_add(count).min(MAX_COUNT);
        }
        while counts.len() > MAX_WORDS {
            let rarest = counts.iter().min_by_key(|(_, count)| **count);
            let Some(rarest) = rarest.map(|(word, _)| word.clone()) else {
                break;
            };
            counts.remove(&rarest);
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
            let mut feedback = QueryFeedback::default();
            feedback.record(query, "books:list");
            feedback.merge_into(folder.path()).unwrap();
        }
        let kept = QueryFeedback::read(folder.path());
        assert_eq!(
            kept.words("books:list"),
            ["invoic", "invoic", "latest", "show"]
        );
        assert!(kept.words("books:other").is_empty());
    }

    #[test]
    fn one_tool_cannot_fill_the_file() {
        let mut feedback = QueryFeedback::default();
        for n in 0..500_u32 {
            let word: String = n
                .to_string()
                .chars()
                .map(|c| (c as u8 + 49) as char)
                .collect();
            feedback.record(&format!("common {word}"), "a:b");
        }
        let words = feedback.words("a:b");
        assert!(
            words.len() <= MAX_WORDS - 1 + usize::from(MAX_COUNT),
            "{}",
            words.len()
        );
        assert_eq!(words.iter().filter(|word| *word == "common").count(), 5);
    }

    #[test]
    fn a_damaged_file_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "{ \"a:b\": 7").unwrap();
        assert!(QueryFeedback::read(folder.path()).is_empty());
    }
}
