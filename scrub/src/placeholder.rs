//! The format of placeholders: `[EMAIL_1_k3f9]`, `[EMAIL_1]`, `[EMAIL#5f2b8c01d3aa]`, `[EMAIL]`.
//!
//! A placeholder that can be restored ends in a tag: four characters of a keyed hash, 20 bits that
//! no text outside the session can know. Each placeholder has a tag of its own, so one that became
//! known says nothing about the others.

use std::ops::Range;

use crate::Kind;

/// A longer number in brackets is not a placeholder and could be a value.
const MAX_NUMBER_DIGITS: usize = 6;
const HASH_DIGITS: usize = 12;
const MAX_KIND_BYTES: usize = 40;
/// The longest text between the brackets: a kind, its number, and a tag or a hash.
const MAX_NAME_BYTES: usize = MAX_KIND_BYTES + HASH_DIGITS + 2;
const TAG_LENGTH: usize = 4;
/// Crockford's alphabet in lower case: no letter looks like a digit or like another letter.
const TAG_LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The placeholder of a value in a map that never restores: `[EMAIL_1]`.
pub(crate) fn numbered(kind: Kind, number: u32) -> String {
    format!("[{kind}_{number}]")
}

/// The placeholder of a value that can be restored: `[EMAIL_1_k3f9]`. The lowest 20 bits of `random`
/// are its tag.
pub(crate) fn tagged(kind: Kind, number: u32, random: u128) -> String {
    let letter = |index: usize| {
        let bits = (random >> (5 * index)) & 31;
        char::from(TAG_LETTERS[bits as usize])
    };
    let tag: String = (0..TAG_LENGTH).map(letter).collect();
    format!("[{kind}_{number}_{tag}]")
}

/// The placeholder of a hashed value: `[EMAIL#5f2b8c01d3aa]`.
pub(crate) fn hashed(kind: Kind, hash: u128) -> String {
    // Twelve hexadecimal digits distinguish millions of values and fit a table's column.
    format!("[{kind}#{:012x}]", hash & 0xFFFF_FFFF_FFFF)
}

/// The placeholder of a value past `maxEntries`: `[EMAIL]`.
pub(crate) fn bare(kind: Kind) -> String {
    format!("[{kind}]")
}

/// The value with all but its last four characters hidden; a short value is hidden completely.
pub(crate) fn masked(value: &str) -> String {
    const SHOWN: usize = 4;
    let length = value.chars().count();
    let shown = if length >= 2 * SHOWN { SHOWN } else { 0 };
    let tail: String = value.chars().skip(length - shown).collect();
    format!("****{tail}")
}

/// The range of every placeholder in a text.
pub(crate) fn spans(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    memchr::memchr_iter(b'[', text.as_bytes()).filter_map(|start| {
        let rest = &text.as_bytes()[start + 1..];
        let window = &rest[..rest.len().min(MAX_NAME_BYTES)];
        let end = memchr::memchr(b']', window)?;
        is_name(&window[..end]).then_some(start..start + 2 + end)
    })
}

/// Whether an offset is within a placeholder, whose words are not context for the text around it.
pub(crate) fn surrounds(bytes: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(MAX_NAME_BYTES);
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let before = bytes[from..at].iter().rposition(|b| !part(*b));
    let Some(open) = before.map(|i| from + i).filter(|i| bytes[*i] == b'[') else {
        return false;
    };
    let rest = &bytes[open + 1..];
    let window = &rest[..rest.len().min(MAX_NAME_BYTES)];
    memchr::memchr(b']', window).is_some_and(|end| is_name(&window[..end]))
}

/// `EMAIL_1` of `EMAIL_1_k3f9`; `None` if the name has no tag.
fn without_tag(name: &[u8]) -> Option<&[u8]> {
    let (rest, tag) = name.split_at_checked(name.len().checked_sub(TAG_LENGTH)?)?;
    let numbered = rest.strip_suffix(b"_")?;
    let is_tag = tag.iter().all(|b| TAG_LETTERS.contains(b));
    (is_tag && numbered.last().is_some_and(u8::is_ascii_digit)).then_some(numbered)
}

fn is_name(name: &[u8]) -> bool {
    let upper = |name: &[u8]| {
        name.len() >= 2
            && name.len() <= MAX_KIND_BYTES
            && name[0].is_ascii_uppercase()
            && name
                .iter()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
    };
    if let Some(hash) = memchr::memchr(b'#', name) {
        let digits = &name[hash + 1..];
        return upper(&name[..hash])
            && digits.len() == HASH_DIGITS
            && digits
                .iter()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b));
    }
    let name = without_tag(name).unwrap_or(name);
    let digits = name.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    upper(name)
        && digits <= MAX_NUMBER_DIGITS
        && (digits == 0 || name[name.len() - digits - 1] == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_distinguished_from_other_brackets() {
        let text = "[EMAIL_1] [x] [US_SSN_12] [IBAN#00ff00ff00ff] [CARD] [A_123456789] [] [9]";
        let found: Vec<_> = spans(text).map(|r| &text[r]).collect();
        assert_eq!(
            found,
            ["[EMAIL_1]", "[US_SSN_12]", "[IBAN#00ff00ff00ff]", "[CARD]"]
        );
    }

    #[test]
    fn a_tag_is_part_of_the_placeholder() {
        let placeholder = tagged(Kind::intern("EMAIL"), 12, 0b11111_00000_00001_01010);
        assert_eq!(placeholder, "[EMAIL_12_a10z]");
        let text = "[EMAIL_1_k3f9] [EMAIL_1_K3F9] [EMAIL_1_k3f] [EMAIL_k3f9] [US_SSN_2_1234] [EMAIL_1_kilo]";
        let found: Vec<_> = spans(text).map(|r| &text[r]).collect();
        assert_eq!(found, ["[EMAIL_1_k3f9]", "[US_SSN_2_1234]"]);
        let text = b"x [US_SSN_12_k3f9] y";
        let within: Vec<_> = (0..text.len()).filter(|at| surrounds(text, *at)).collect();
        assert_eq!(within, (3..18).collect::<Vec<_>>());
    }

    #[test]
    fn offsets_within_a_placeholder_are_known() {
        let text = b"x [US_SSN_12] y [z";
        let within: Vec<_> = (0..text.len()).filter(|at| surrounds(text, *at)).collect();
        assert_eq!(within, (3..13).collect::<Vec<_>>());
    }

    #[test]
    fn masking_shows_four_characters_of_a_long_value_only() {
        assert_eq!(masked("4111111111111111"), "****1111");
        assert_eq!(masked("1234567"), "****");
    }
}
