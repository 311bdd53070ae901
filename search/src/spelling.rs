//! Spelling correction of query words: `scrennshot` is searched as `screenshot`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::stems::english_words;

/// Shortest stem that is corrected. Too many shorter ones differ by one letter.
const SHORTEST: usize = 4;
/// Shortest stem that may have two errors.
const LONG: usize = 8;

static ENGLISH: LazyLock<HashSet<&'static str>> = LazyLock::new(|| english_words().collect());

/// The stems of a set of tools, as candidates for corrections.
#[derive(Debug, Default)]
pub struct SpellingIndex {
    buckets: HashMap<Bucket, Vec<String>>,
}

/// First letter, which is seldom wrong, and length of a stem.
type Bucket = (u8, usize);

impl SpellingIndex {
    /// Indexes stems. Those that are short or not plain ASCII are never proposed.
    pub fn new<'a>(stems: impl Iterator<Item = &'a String>) -> Self {
        let mut buckets: HashMap<Bucket, Vec<String>> = HashMap::new();
        for stem in stems {
            if let Some(bucket) = bucket(stem) {
                buckets.entry(bucket).or_default().push(stem.clone());
            }
        }
        Self { buckets }
    }

    /// The nearest stems to a word that no tool has; several if they are equally near. Empty for an
    /// English word, which is taken as spelt correctly.
    pub fn corrections(&self, word: &str, stem: &str) -> Vec<&str> {
        let Some((letter, length)) = bucket(stem).filter(|_| !ENGLISH.contains(word)) else {
            return Vec::new();
        };
        let mut max_errors = if length < LONG { 1 } else { 2 };
        let mut nearest = Vec::new();
        for length in length - max_errors..=length + max_errors {
            for candidate in self.buckets.get(&(letter, length)).into_iter().flatten() {
                let Some(errors) = distance(stem.as_bytes(), candidate.as_bytes(), max_errors)
                else {
                    continue;
                };
                if errors < max_errors {
                    max_errors = errors;
                    nearest.clear();
                }
                nearest.push(candidate.as_str());
            }
        }
        nearest
    }
}

fn bucket(stem: &str) -> Option<Bucket> {
    let plain = stem.bytes().all(|letter| letter.is_ascii_lowercase());
    let first = stem.bytes().next()?;
    (plain && stem.len() >= SHORTEST).then_some((first, stem.len()))
}

/// Edit distance: omissions, insertions, substitutions and transpositions of adjacent letters (optimal
/// string alignment). `None` if it exceeds `max`.
fn distance(a: &[u8], b: &[u8], max: usize) -> Option<usize> {
    let mut row_before_last: Vec<usize> = Vec::new();
    let mut last_row: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, &y) in b.iter().enumerate() {
            let substituted = last_row[j] + usize::from(x != y);
            let mut least = substituted.min(last_row[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                least = least.min(row_before_last[j - 1] + 1);
            }
            row.push(least);
        }
        if row.iter().all(|&errors| errors > max) {
            return None;
        }
        row_before_last = std::mem::replace(&mut last_row, row);
    }
    last_row.last().copied().filter(|&errors| errors <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrections(stems: &[&str], word: &str) -> Vec<String> {
        let stems: Vec<String> = stems.iter().map(|&stem| stem.to_owned()).collect();
        let spelling = SpellingIndex::new(stems.iter());
        let mut found = spelling.corrections(word, word);
        found.sort_unstable();
        found.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_misspelt_word_is_corrected() {
        assert_eq!(
            corrections(&["screenshot", "page"], "scrennshot"),
            ["screenshot"]
        );
        assert_eq!(corrections(&["kubernet", "pod"], "kuberent"), ["kubernet"]);
        assert_eq!(corrections(&["file", "convert"], "covnert"), ["convert"]);
    }

    #[test]
    fn all_equally_near_stems_are_proposed_and_none_farther() {
        assert_eq!(
            corrections(&["issue", "issuer"], "issuee"),
            ["issue", "issuer"]
        );
        let far = ["graphql", "graphical", "graphics"];
        assert_eq!(corrections(&far, "graphicz"), ["graphics"]);
    }

    #[test]
    fn english_words_short_words_and_other_scripts_are_not_corrected() {
        assert!(corrections(&["house"], "horse").is_empty());
        assert!(corrections(&["git"], "gti").is_empty());
        assert!(corrections(&["öffnen"], "öfnen").is_empty());
        assert!(corrections(&["weather"], "").is_empty());
    }

    #[test]
    fn distances_count_errors() {
        assert_eq!(distance(b"abcd", b"abdc", 2), Some(1));
        assert_eq!(distance(b"abcd", b"abcde", 1), Some(1));
        assert_eq!(distance(b"abcd", b"wxyz", 2), None);
        assert_eq!(distance(b"", b"", 0), Some(0));
    }
}
