//! Value boundaries: whether a range is a whole value or a part of a longer one.

/// The byte before an offset, or 0 at the start.
pub(crate) fn before(bytes: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |i| bytes[i])
}

/// The byte at an offset, or 0 past the end.
pub(crate) fn at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Whether the range stands alone: no letter or digit touches it, and no `-`, `.`, `_` or the like
/// joins it to a longer name.
pub(crate) fn stands_alone(bytes: &[u8], start: usize, end: usize) -> bool {
    begins(bytes, start) && ends(bytes, end)
}

/// Whether a value can begin at `start`.
pub(crate) fn begins(bytes: &[u8], start: usize) -> bool {
    if follows_letter(bytes, start) {
        return false;
    }
    let previous = before(bytes, start);
    // `SSN#536-22-1234`: a `#` precedes a number without being a part of it.
    let joined = matches!(
        previous,
        b'-' | b'.' | b'_' | b'/' | b'+' | b'$' | b'*' | b'&' | b'%'
    );
    let part = joined && start >= 2 && is_word(bytes[start - 2]);
    !(part || matches!(previous, b'$' | b'_'))
}

/// Whether a value can end at `end`.
pub(crate) fn ends(bytes: &[u8], end: usize) -> bool {
    let next = at(bytes, end);
    if is_letter(next) {
        return false;
    }
    let joined = matches!(
        next,
        b'-' | b'.' | b'_' | b'/' | b'+' | b'$' | b'*' | b'%' | b'='
    );
    let part = joined && is_word(at(bytes, end + 1));
    !(part || matches!(next, b'_' | b'$'))
}

/// Letters and digits; every non-ASCII byte counts as a letter.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Whether a letter or digit is right before an offset, so that a value there would be part of its
/// word.
pub(crate) fn follows_letter(bytes: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(4);
    let first = bytes[from..at]
        .iter()
        .rposition(|b| !(0x80..0xC0).contains(b));
    first.is_some_and(|i| is_letter(bytes[from + i]))
}

/// Whether the character with this first byte joins a word before it. Chinese, Korean, Thai and the
/// like have no space between a word and a number, and typographic quotes do not join: the first
/// bytes of all these are those of longer UTF-8 sequences.
pub(crate) fn is_letter(first: u8) -> bool {
    first.is_ascii_alphanumeric() || (0xC3..0xE0).contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_joins_a_value_and_a_script_without_spaces_does_not() {
        let alone = |text: &str| {
            let start = text.find('1').expect("a digit");
            stands_alone(text.as_bytes(), start, start + 2)
        };
        for text in [
            "12",
            "x 12.",
            "“12”",
            "번호는 12입니다",
            "号12。",
            "«12»",
            "x#12",
        ] {
            assert!(alone(text), "{text}");
        }
        for text in ["a12", "é12", "12é", "ж12", "x-12", "12.5"] {
            assert!(!alone(text), "{text}");
        }
    }
}
