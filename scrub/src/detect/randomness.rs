//! Statistics that distinguish random characters from words, identifiers, hashes and numbers.

/// Character statistics of a token.
pub(super) struct TokenStats {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    pub(super) other: usize,
    /// Shannon entropy in bits per character.
    pub(super) entropy: f32,
    /// How often neighbouring characters are of different classes, per character.
    pub(super) class_changes: f32,
    /// The longest run of letters of one case: words have long ones.
    pub(super) longest_word: usize,
}

impl TokenStats {
    pub(super) fn of(token: &[u8]) -> Self {
        let mut counts = [0u32; 256];
        let (mut lower, mut upper, mut digits, mut other) = (0, 0, 0, 0);
        let (mut changes, mut word, mut longest_word, mut last) = (0, 0, 0, b' ');
        for byte in token {
            counts[usize::from(*byte)] += 1;
            let class = match byte {
                b'a'..=b'z' => {
                    lower += 1;
                    b'a'
                }
                b'A'..=b'Z' => {
                    upper += 1;
                    b'A'
                }
                b'0'..=b'9' => {
                    digits += 1;
                    b'0'
                }
                _ => {
                    other += 1;
                    b'.'
                }
            };
            changes += usize::from(class != last);
            word = if class == last && class.is_ascii_alphabetic() {
                word + 1
            } else {
                1
            };
            longest_word = longest_word.max(word);
            last = class;
        }
        let length = token.len() as f32;
        let entropy = counts.iter().filter(|c| **c > 0).map(|c| {
            let share = *c as f32 / length;
            -share * share.log2()
        });
        Self {
            lower,
            upper,
            digits,
            other,
            entropy: entropy.sum(),
            class_changes: changes as f32 / length,
            longest_word,
        }
    }
}

/// Alphabets and counted sequences such as `ABCDEFG…` and `0123456789abcdef`.
pub(super) fn is_sequence(token: &[u8]) -> bool {
    let steps = token
        .windows(2)
        .filter(|w| w[1] == w[0].wrapping_add(1) || w[1] == w[0])
        .count();
    steps * 2 > token.len()
}

/// `8-4-4-4-12` hexadecimal digits.
pub(super) fn is_uuid(token: &[u8]) -> bool {
    token.len() == 36
        && token.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Commit ids, digests and the like are hexadecimal.
pub(super) fn is_hex(token: &[u8]) -> bool {
    token.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_text_changes_often_and_words_do_not() {
        let random = TokenStats::of(b"q8Zt1LmX0vRb7KpYc3Wd");
        let words = TokenStats::of(b"getElementsByClassName");
        assert!(
            random.class_changes > words.class_changes && random.longest_word < words.longest_word
        );
        assert!(random.entropy > 4.0);
    }

    #[test]
    fn uuids_sequences_and_hashes_are_recognised() {
        assert!(is_uuid(b"123e4567-e89b-12d3-a456-426614174000"));
        assert!(is_sequence(
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        ));
        assert!(is_hex(b"da39a3ee5e6b4b0d3255bfef95601890afd80709"));
        assert!(!is_sequence(b"q8Zt1LmX0vRb7KpYc3Wd"));
    }
}
