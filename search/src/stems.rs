//! Tokenization: text and identifiers split into stemmed words.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

/// Stop words of requests. They say nothing about a tool, but are rare among tool descriptions, so that
/// inverse document frequency alone would rate them high.
const STOP_WORDS: &str = "a about additionally all also am an and any are as at be been by can could \
    did do does for from get give had has have he help her his how i id if im in into is it its \
    ive just know let like make me more most my need no not of on or our please provide she \
    should so some tell that the their them then there these they this those to us use using was \
    we were what when where which who will with would want you your yours";

static STOP_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let stemmer = Stemmer::new(Algorithm::English);
    let stems = STOP_WORDS.split_whitespace().map(|word| stemmer.stem(word));
    stems.map(Cow::into_owned).collect()
});

/// English words, the most frequent first: the order of the model's vocabulary.
const ENGLISH: &str = include_str!("english_words.txt");
/// Words from the start of [`ENGLISH`] that weigh less than 1.
const COMMON: usize = 8_000;
/// About the vocabulary of a large English text.
const ENGLISH_WORDS: f32 = 30_000.0;

static TERM_WEIGHTS: LazyLock<HashMap<String, f32>> = LazyLock::new(|| {
    let stemmer = Stemmer::new(Algorithm::English);
    let mut weights = HashMap::new();
    for (rank, word) in english_words().take(COMMON).enumerate() {
        let weight = (rank as f32 + 2.0).ln() / ENGLISH_WORDS.ln();
        weights
            .entry(stemmer.stem(word).into_owned())
            .or_insert(weight);
    }
    weights
});

/// The words of [`ENGLISH`], in its order.
pub fn english_words() -> impl Iterator<Item = &'static str> {
    ENGLISH.split_whitespace()
}

/// The weight of a query's stem, from 0 to 1, independent of the tools: words that are frequent in
/// English weigh little, however rare they are among tools.
pub fn term_weight(stem: &str) -> f32 {
    TERM_WEIGHTS.get(stem).copied().unwrap_or(1.0)
}

/// Whether a stem is that of a stop word.
pub fn is_stop_word(stem: &str) -> bool {
    STOP_STEMS.contains(stem)
}

/// The stems of a text or an identifier, in order. `readFile`, `read_file`, `Read files` and
/// `READ FILE` have the same stems.
pub fn stems(text: &str) -> Vec<String> {
    let mut stems = Vec::new();
    each_stem(text, |_, stem| stems.push(stem));
    stems
}

/// Calls `take` with each word of a text in lower case and its stem.
pub fn each_stem(text: &str, mut take: impl FnMut(&str, String)) {
    let stemmer = Stemmer::new(Algorithm::English);
    each_word(text, |word| {
        let lower = word.to_lowercase();
        take(&lower, stemmer.stem(&lower).into_owned());
    });
}

/// An identifier as separate words: `getHTTPStatus_code` becomes `get HTTP Status code`.
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
        // `what's` becomes `what`, `don't` becomes `dont`.
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

/// Splits before the capital of `aB` and before the last capital of `ABc`.
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
    fn a_common_word_weighs_less_than_a_rare_one() {
        assert!(term_weight("year") < term_weight("invoic"));
        assert!(term_weight("plan") < term_weight("kubernet"));
        assert_eq!(term_weight("kubernet"), 1.0);
    }

    #[test]
    fn stop_words_are_recognised_by_their_stem() {
        assert!(
            stems("provides additionally")
                .iter()
                .all(|s| is_stop_word(s))
        );
        assert!(!is_stop_word("file"));
    }
}
