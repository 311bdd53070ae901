//! Text and identifiers as words that can be compared.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

/// What people put around a wish. It says nothing about a tool, and in a corpus of tools these
/// words are rare enough to look important.
const FILLERS: &str = "a about additionally all also am an and any are as at be been by can could \
    did do does for from get give had has have he help her his how i id if im in into is it its \
    ive just know let like make me more most my need no not of on or our please provide she \
    should so some tell that the their them then there these they this those to us use using was \
    we were what when where which who will with would want you your yours";

static FILLER_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let stemmer = Stemmer::new(Algorithm::English);
    let stems = FILLERS.split_whitespace().map(|word| stemmer.stem(word));
    stems.map(Cow::into_owned).collect()
});

/// English words, the most frequent first: the order of the vocabulary of the model.
const ENGLISH: &str = include_str!("english_words.txt");
/// Words that are frequent enough to say less than others.
const COMMON: usize = 8_000;
/// About as many words as an English text of any size has.
const ENGLISH_WORDS: f32 = 30_000.0;

static WORTHS: LazyLock<HashMap<String, f32>> = LazyLock::new(|| {
    let stemmer = Stemmer::new(Algorithm::English);
    let mut worths = HashMap::new();
    for (place, word) in english_words().take(COMMON).enumerate() {
        let worth = (place as f32 + 2.0).ln() / ENGLISH_WORDS.ln();
        worths
            .entry(stemmer.stem(word).into_owned())
            .or_insert(worth);
    }
    worths
});

pub fn english_words() -> impl Iterator<Item = &'static str> {
    ENGLISH.split_whitespace()
}

/// How much a stem of a query tells, from 0 to 1, before anything is known of the tools: words
/// that everybody uses tell little, however rare they are among tools.
pub fn worth(stem: &str) -> f32 {
    WORTHS.get(stem).copied().unwrap_or(1.0)
}

/// Whether a stem says nothing about what is wanted.
pub fn is_filler(stem: &str) -> bool {
    FILLER_STEMS.contains(stem)
}

/// The stems of a text or an identifier, in order: `readFile`, `read_file`, `Read files` and
/// `READ FILE` have the same.
pub fn stems(text: &str) -> Vec<String> {
    let mut stems = Vec::new();
    each_stem(text, |_, stem| stems.push(stem));
    stems
}

/// The words of a text in small letters, each with its stem.
pub fn each_stem(text: &str, mut take: impl FnMut(&str, String)) {
    let stemmer = Stemmer::new(Algorithm::English);
    each_word(text, |word| {
        let small = word.to_lowercase();
        take(&small, stemmer.stem(&small).into_owned());
    });
}

/// An identifier as people would write it: `getHTTPStatus_code` is `get HTTP Status code`.
pub fn spelled_out(identifier: &str) -> String {
    let mut out = String::with_capacity(identifier.len() + 8);
    each_word(identifier, |word| {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    });
    out
}

fn each_word(text: &str, mut take: impl FnMut(&str)) {
    for part in text.split(|c: char| !c.is_alphanumeric() && !is_apostrophe(c)) {
        // `what's` is `what`, `don't` is `dont`.
        let part: Cow<'_, str> = match part.contains(is_apostrophe) {
            true => Cow::Owned(without_apostrophes(part)),
            false => Cow::Borrowed(part),
        };
        split_at_case(&part, &mut take);
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}')
}

fn without_apostrophes(part: &str) -> String {
    let part = part.trim_matches(is_apostrophe);
    let part = match part.char_indices().rev().nth(1) {
        Some((at, c)) if is_apostrophe(c) && part.ends_with(['s', 'S']) => &part[..at],
        _ => part,
    };
    part.replace(is_apostrophe, "")
}

/// Splits at `aB` and before the last capital of `ABc`.
fn split_at_case(part: &str, take: &mut impl FnMut(&str)) {
    let mut start = 0;
    let mut before: Option<(usize, char)> = None;
    for (at, c) in part.char_indices() {
        if let Some((last, previous)) = before {
            let begins = c.is_uppercase() && !previous.is_uppercase();
            let ended = c.is_lowercase() && previous.is_uppercase() && last > start;
            let cut = match (begins, ended) {
                (true, _) => Some(at),
                (_, true) => Some(last),
                _ => None,
            };
            if let Some(cut) = cut {
                take(&part[start..cut]);
                start = cut;
            }
        }
        before = Some((at, c));
    }
    if start < part.len() {
        take(&part[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_texts_are_split_alike() {
        for text in [
            "readFile",
            "read_file",
            "Read-Files",
            "read.file",
            "READ FILE",
        ] {
            assert_eq!(stems(text), ["read", "file"], "{text}");
        }
    }

    #[test]
    fn capitals_in_a_row_are_one_word() {
        assert_eq!(spelled_out("parseJSONText"), "parse JSON Text");
        assert_eq!(spelled_out("getHTTPStatus_code"), "get HTTP Status code");
        assert_eq!(spelled_out("S3-list"), "S3 list");
    }

    #[test]
    fn apostrophes_do_not_part_words() {
        assert_eq!(stems("what's Ann's don't"), ["what", "ann", "dont"]);
        assert_eq!(stems("' '' 's ’"), ["s"]);
    }

    #[test]
    fn any_script_has_words() {
        assert_eq!(stems("Datei öffnen"), ["datei", "öffnen"]);
        assert_eq!(stems("открыть файл").len(), 2);
        assert!(stems("🚀🚀 -- !!").is_empty());
    }

    #[test]
    fn a_common_word_is_worth_less_than_a_rare_one() {
        assert!(worth("year") < worth("invoic"));
        assert!(worth("plan") < worth("kubernet"));
        assert_eq!(worth("kubernet"), 1.0);
    }

    #[test]
    fn fillers_are_known_by_their_stem() {
        assert!(stems("provides additionally").iter().all(|s| is_filler(s)));
        assert!(!is_filler("file"));
    }
}
