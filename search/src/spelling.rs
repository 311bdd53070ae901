//! Slips of the keyboard: `scrennshot` asks for a screenshot.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::words::english_words;

/// Letters of a stem that may be misspelt. Under that, too many differ by one letter.
const SHORTEST: usize = 4;
/// Letters of a stem that may have two slips.
const LONG: usize = 8;

static ENGLISH: LazyLock<HashSet<&'static str>> = LazyLock::new(|| english_words().collect());

/// The stems of a set of tools, to spell by.
#[derive(Debug, Default)]
pub struct Spelling {
    shelves: HashMap<Shelf, Vec<String>>,
}

/// Stems by their first letter, which is seldom wrong, and their length.
type Shelf = (u8, usize);

impl Spelling {
    pub fn new<'a>(stems: impl Iterator<Item = &'a String>) -> Self {
        let mut shelves: HashMap<Shelf, Vec<String>> = HashMap::new();
        for stem in stems {
            if let Some(shelf) = shelf(stem) {
                shelves.entry(shelf).or_default().push(stem.clone());
            }
        }
        Self { shelves }
    }

    /// The stems that a word no tool has may have been meant for: all that are nearest. None for
    /// a word of English, which is right as it is.
    pub fn meant(&self, word: &str, stem: &str) -> Vec<&str> {
        let Some((letter, length)) = shelf(stem).filter(|_| !ENGLISH.contains(word)) else {
            return Vec::new();
        };
        let mut most = if length < LONG { 1 } else { 2 };
        let mut nearest = Vec::new();
        for length in length - most..=length + most {
            for candidate in self.shelves.get(&(letter, length)).into_iter().flatten() {
                let Some(slips) = distance(stem.as_bytes(), candidate.as_bytes(), most) else {
                    continue;
                };
                if slips < most {
                    most = slips;
                    nearest.clear();
                }
                nearest.push(candidate.as_str());
            }
        }
        nearest
    }
}

fn shelf(stem: &str) -> Option<Shelf> {
    let plain = stem.bytes().all(|letter| letter.is_ascii_lowercase());
    let first = stem.bytes().next()?;
    (plain && stem.len() >= SHORTEST).then_some((first, stem.len()))
}

/// How many letters were left out, put in, exchanged or swapped with the next; `None` if more than
/// `most`.
fn distance(a: &[u8], b: &[u8], most: usize) -> Option<usize> {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, &y) in b.iter().enumerate() {
            let exchanged = last[j] + usize::from(x != y);
            let mut least = exchanged.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        if row.iter().all(|&slips| slips > most) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|&slips| slips <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(stems: &[&str], word: &str) -> Vec<String> {
        let stems: Vec<String> = stems.iter().map(|&stem| stem.to_owned()).collect();
        let spelling = Spelling::new(stems.iter());
        let mut meant = spelling.meant(word, word);
        meant.sort_unstable();
        meant.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn slips_lead_to_what_was_meant() {
        assert_eq!(meant(&["screenshot", "page"], "scrennshot"), ["screenshot"]);
        assert_eq!(meant(&["kubernet", "pod"], "kuberent"), ["kubernet"]);
        assert_eq!(meant(&["file", "convert"], "covnert"), ["convert"]);
    }

    #[test]
    fn all_that_are_equally_near_are_meant_and_none_that_is_farther() {
        assert_eq!(meant(&["issue", "issuer"], "issuee"), ["issue", "issuer"]);
        let far = ["graphql", "graphical", "graphics"];
        assert_eq!(meant(&far, "graphicz"), ["graphics"]);
    }

    #[test]
    fn words_of_english_short_words_and_other_scripts_are_right_as_they_are() {
        assert!(meant(&["house"], "horse").is_empty());
        assert!(meant(&["git"], "gti").is_empty());
        assert!(meant(&["öffnen"], "öfnen").is_empty());
        assert!(meant(&["weather"], "").is_empty());
    }

    #[test]
    fn distances_count_slips() {
        assert_eq!(distance(b"abcd", b"abdc", 2), Some(1));
        assert_eq!(distance(b"abcd", b"abcde", 1), Some(1));
        assert_eq!(distance(b"abcd", b"wxyz", 2), None);
        assert_eq!(distance(b"", b"", 0), Some(0));
    }
}
