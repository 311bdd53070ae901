//! Words close to a value that say what it is.

use crate::{boundary, placeholder};

/// How far a word may stand before a value, in bytes.
const BEFORE: usize = 64;
/// And after it.
const AFTER: usize = 32;

/// Whether one of the words, given in lower case, stands shortly before the value or, on the same
/// line, right after it. `cardNumber` and `card_number` hold the word `card`; `discard` does not.
pub(crate) fn near(text: &str, start: usize, end: usize, words: &[&str]) -> bool {
    in_window(text, start.saturating_sub(BEFORE), start, words) || {
        let until = (end + AFTER).min(text.len());
        let line = memchr::memchr(b'\n', &text.as_bytes()[end..until]).unwrap_or(until - end);
        in_window(text, end, end + line, words)
    }
}

/// Whether one of the words stands shortly before the place.
pub(crate) fn just_before(text: &str, start: usize, words: &[&str]) -> bool {
    in_window(text, start.saturating_sub(BEFORE), start, words)
}

fn in_window(text: &str, from: usize, to: usize, words: &[&str]) -> bool {
    let bytes = text.as_bytes();
    let mut window = [0u8; BEFORE];
    let length = to - from;
    window[..length].copy_from_slice(&bytes[from..to]);
    window[..length].make_ascii_lowercase();
    let window = &window[..length];
    // Most words have a letter that does not even occur nearby.
    let letters = |bytes: &[u8]| bytes.iter().fold(0u64, |set, b| set | 1 << (b & 63));
    let here = letters(window);
    words.iter().any(|word| {
        if letters(word.as_bytes()) & !here != 0 {
            return false;
        }
        let mut offset = 0;
        while let Some(found) = memchr::memmem::find(&window[offset..], word.as_bytes()) {
            let start = from + offset + found;
            if starts_word(bytes, start)
                && ends_word(bytes, start + word.len(), word)
                && !placeholder::surrounds(bytes, start)
            {
                return true;
            }
            offset += found + 1;
        }
        false
    })
}

fn starts_word(bytes: &[u8], start: usize) -> bool {
    let previous = boundary::before(bytes, start);
    !boundary::is_word(previous)
        || previous.is_ascii_digit()
        || (previous.is_ascii_lowercase() && bytes[start].is_ascii_uppercase())
}

/// A short word must end where it ends (`tel` is not `tell`); a long one may be inflected.
fn ends_word(bytes: &[u8], end: usize, word: &str) -> bool {
    let next = boundary::at(bytes, end);
    word.len() > 4
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
        let near_end = |text: &str, word: &str| near(text, text.len(), text.len(), &[word]);
        for (text, word) in [
            ("my card is ", "card"),
            ("creditCardNumber: ", "card"),
            ("credit_card: ", "card"),
            ("Tel. ", "tel"),
        ] {
            assert!(near_end(text, word), "{text}");
        }
        for (text, word) in [
            ("discard: ", "card"),
            ("I tell you ", "tel"),
            ("TELLER = ", "tel"),
            ("[CARD_1] ", "card"),
        ] {
            assert!(!near_end(text, word), "{text}");
        }
    }
}
