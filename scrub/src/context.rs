//! Context words: words close to a value that identify its kind.

use crate::{boundary, placeholder};

/// How far before a value a word may be, in bytes.
const WINDOW_BEFORE: usize = 64;
/// How far after it.
const WINDOW_AFTER: usize = 32;
/// A word of at most this many bytes is often the beginning of another.
const MAX_SHORT: usize = 4;
/// The bit of a space in a set of letters.
const SPACE: u64 = 1 << (b' ' & 63);

/// Whether one of the words, given in lower case, is shortly before the value or, on the same line,
/// right after it. `cardNumber` and `card_number` contain the word `card`; `discard` does not. A
/// space in a word also matches the word boundary of a key: `tax file` is in `taxFileNumber`.
pub(crate) fn has_word_near(text: &str, start: usize, end: usize, words: &[&str]) -> bool {
    in_window(text, start.saturating_sub(WINDOW_BEFORE), start, words) || {
        let until = (end + WINDOW_AFTER).min(text.len());
        let line = memchr::memchr(b'\n', &text.as_bytes()[end..until]).unwrap_or(until - end);
        in_window(text, end, end + line, words)
    }
}

/// Whether one of the words is on the same line, at most `reach` bytes before `start`.
pub(crate) fn has_word_before(text: &str, start: usize, reach: usize, words: &[&str]) -> bool {
    let from = start.saturating_sub(reach.min(WINDOW_BEFORE));
    let line = memchr::memrchr(b'\n', &text.as_bytes()[from..start]);
    in_window(text, line.map_or(from, |at| from + at + 1), start, words)
}

fn in_window(text: &str, from: usize, to: usize, words: &[&str]) -> bool {
    let bytes = text.as_bytes();
    let mut window = [0u8; WINDOW_BEFORE];
    let length = to - from;
    window[..length].copy_from_slice(&bytes[from..to]);
    window[..length].make_ascii_lowercase();
    let window = &window[..length];
    // Most words have a letter that does not occur in the window. A space may be missing in a key.
    let letters = |bytes: &[u8]| bytes.iter().fold(SPACE, |set, b| set | 1 << (b & 63));
    let here = letters(window);
    words.iter().any(|word| {
        if letters(word.as_bytes()) & !here != 0 {
            return false;
        }
        let (head, rest) = word.split_at(word.find(' ').unwrap_or(word.len()));
        let mut offset = 0;
        while let Some(found) = memchr::memmem::find(&window[offset..], head.as_bytes()) {
            let start = offset + found;
            let end = rest_end(window, start + head.len(), rest.as_bytes());
            if end.is_some_and(|(end, as_written)| {
                starts_word(bytes, from + start)
                    && ends_word(bytes, from + end, as_written && word.len() > MAX_SHORT)
                    && !placeholder::surrounds(bytes, from + start)
            }) {
                return true;
            }
            offset += found + 1;
        }
        false
    })
}

/// The end of the rest of a word with spaces, if it matches at `at`, and whether its spaces did.
fn rest_end(window: &[u8], mut at: usize, rest: &[u8]) -> Option<(usize, bool)> {
    let mut as_written = true;
    for byte in rest {
        match window.get(at) {
            Some(here) if here == byte => at += 1,
            Some(b'_' | b'-') if *byte == b' ' => (at, as_written) = (at + 1, false),
            _ if *byte == b' ' => as_written = false,
            _ => return None,
        }
    }
    Some((at, as_written))
}

fn starts_word(bytes: &[u8], start: usize) -> bool {
    let previous = boundary::before(bytes, start);
    !boundary::is_word(previous)
        || previous.is_ascii_digit()
        || (previous.is_ascii_lowercase() && bytes[start].is_ascii_uppercase())
}

/// Whether the word ends at `end`. A short word must (`tel` is not `tell`), and so must words that
/// a key joins (`callMethod` is not `call me`); a long one may be inflected.
fn ends_word(bytes: &[u8], end: usize, may_go_on: bool) -> bool {
    let next = boundary::at(bytes, end);
    may_go_on
        || !boundary::is_word(next)
        || next.is_ascii_digit()
        || (next.is_ascii_uppercase() && bytes[end - 1].is_ascii_lowercase())
        || (next == b's' && !boundary::is_word(boundary::at(bytes, end + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_names_and_sentences_but_not_inside_other_words() {
        let near_end =
            |text: &str, word: &str| has_word_near(text, text.len(), text.len(), &[word]);
        for (text, word) in [
            ("my card is ", "card"),
            ("creditCardNumber: ", "card"),
            ("credit_card: ", "card"),
            ("Tel. ", "tel"),
            ("tax file number ", "tax file"),
            ("tax_file_number: ", "tax file"),
            ("taxFileNumber: ", "tax file"),
            ("Tax-Files: ", "tax file"),
            ("TAXFILE: ", "tax file"),
        ] {
            assert!(near_end(text, word), "{text}");
        }
        for (text, word) in [
            ("discard: ", "card"),
            ("I tell you ", "tel"),
            ("TELLER = ", "tel"),
            ("[CARD_1] ", "card"),
            ("callMethod: ", "call me"),
            ("CALLMETHOD: ", "call me"),
            ("call_method: ", "call me"),
            ("surtax_file: ", "tax file"),
            ("tax/file: ", "tax file"),
        ] {
            assert!(!near_end(text, word), "{text}");
        }
    }

    #[test]
    fn a_word_just_before_is_close_and_on_the_same_line() {
        let before = |text: &str| has_word_before(text, text.len(), 16, &["build"]);
        for text in ["build ", "build number: "] {
            assert!(before(text), "{text}");
        }
        for text in ["build\n", "a build that ran for long on "] {
            assert!(!before(text), "{text}");
        }
    }
}
