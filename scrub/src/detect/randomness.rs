//! Statistics that distinguish random characters from words, identifiers, hashes and numbers.

/// For each letter, the letters that often follow it in English words and identifiers, one bit
/// each: a third of all pairs, and 94 % of those in a running text.
#[rustfmt::skip]
const COMMON_PAIRS: [u32; 26] = [
    0x13ebd4e, 0x0164911, 0x01a4d95, 0x0164119, 0x0efb97d, 0x0124931, 0x0166191, 0x0024111, 0x22ef87f, 0x0000000,
    0x0040110, 0x11c4919, 0x004d113, 0x01c617d, 0x07efd6f, 0x01ec991, 0x0100000, 0x13e755d, 0x11cc195, 0x11e4995,
    0x00eb91f, 0x0000111, 0x0006191, 0x0088010, 0x0040000, 0x0000010,
];
/// Above this share of common pairs, letters are words.
const WORD_SHARE: f32 = 0.66;
/// With fewer pairs of letters, the share says nothing.
const MIN_PAIRS: usize = 3;

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
    /// The pairs of letters within its words.
    pub(super) pairs: usize,
    /// How many of them are common in words.
    pub(super) common_pairs: usize,
}

impl TokenStats {
    /// Whether the letters form words rather than being random.
    pub(super) fn has_words(&self) -> bool {
        self.pairs >= MIN_PAIRS && self.common_pairs as f32 > WORD_SHARE * self.pairs as f32
    }

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
        let (pairs, common_pairs) = letter_pairs(token);
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
            pairs,
            common_pairs,
        }
    }
}

/// The pairs of letters, and those that are common in words. A capital after a small letter begins
/// another word.
fn letter_pairs(token: &[u8]) -> (usize, usize) {
    let index = |b: u8| usize::from(b.to_ascii_lowercase() - b'a');
    let (mut pairs, mut common) = (0, 0);
    for pair in token.windows(2) {
        let letters = pair.iter().all(u8::is_ascii_alphabetic);
        if letters && !(pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()) {
            pairs += 1;
            common += usize::from(COMMON_PAIRS[index(pair[0])] >> index(pair[1]) & 1 == 1);
        }
    }
    (pairs, common)
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
    fn letters_of_words_are_told_from_random_ones() {
        for words in [
            "getElementsByClassName",
            "correct-horse-battery-staple",
            "MAX_BUFFER_SIZE_2",
        ] {
            assert!(TokenStats::of(words.as_bytes()).has_words(), "{words}");
        }
        for random in ["kq7zvxw2jfhqpzbdkx", "GXKQZVJWPHQD", "q8Zt1LmX0vRb7KpYc3Wd"] {
            assert!(!TokenStats::of(random.as_bytes()).has_words(), "{random}");
        }
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
