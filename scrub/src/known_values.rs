//! Values that the session has replaced already. Wherever one occurs again, with or without the
//! context that identified it, it is replaced again.
//!
//! Values are not stored. Each is kept as the keyed hash of its folded form (letters and digits only,
//! ASCII in lower case) under the hash of its first six bytes. A search folds the text at every start
//! of a word, and hashes further only where the six bytes are known, so its time is linear in the text
//! and independent of the number of values.

use std::collections::HashMap;
use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};

use crate::boundary::{is_letter, is_word, stands_alone};
use crate::detect::Repeats;
use crate::normalize::NormalizedText;
use crate::scan::Candidate;

/// A value with fewer letters and digits is too short to be recognised without context.
const MIN_FOLDED: usize = 6;
/// A number of fewer digits is recognised in the reply that it was found in, and not later: too many
/// ordinary numbers are equal to it.
const MIN_SESSION_DIGITS: usize = 8;
/// A value this long is distinctive even without a digit.
const LONG_FOLDED: usize = 16;
/// The longest value that is searched for.
const MAX_FOLDED: usize = 256;
/// The most characters between two letters or digits of one value.
const MAX_GAP: usize = 3;
/// The most values that begin with the same six letters or digits: each costs time where they occur.
const MAX_SAME_PREFIX: usize = 128;
const FILTER_BITS: u32 = 16;

/// The values of one session, in the form in which they are recognised.
pub(crate) struct KnownValues {
    hash_key: [u8; 16],
    max_entries: usize,
    entries: HashMap<u128, Vec<Entry>>,
    count: usize,
    /// A bit for each prefix, so that most words of a text need no hash. Empty before the first value.
    filter: Vec<u64>,
    /// The prefixes of the values that are forgotten at the end of the reply.
    of_reply: Vec<u128>,
    additions: usize,
}

/// One value.
struct Entry {
    length: usize,
    hash: u128,
    is_number: bool,
    /// The symbols before the first and after the last letter or digit.
    around: (usize, usize),
    for_session: bool,
    found: Candidate,
}

impl KnownValues {
    pub(crate) fn new(hash_key: [u8; 16], max_entries: usize) -> Self {
        Self {
            hash_key,
            max_entries,
            entries: HashMap::new(),
            count: 0,
            filter: Vec::new(),
            of_reply: Vec::new(),
            additions: 0,
        }
    }

    /// How many values were ever added. A text that was scrubbed at a lower number may contain one
    /// that was not known then.
    pub(crate) fn additions(&self) -> usize {
        self.additions
    }

    /// Forgets the values that are only recognised within the reply they were found in.
    pub(crate) fn end_reply(&mut self) {
        for prefix in self.of_reply.drain(..) {
            if let Some(entries) = self.entries.get_mut(&prefix) {
                let before = entries.len();
                entries.retain(|entry| entry.for_session);
                self.count -= before - entries.len();
                if entries.is_empty() {
                    self.entries.remove(&prefix);
                }
            }
        }
    }

    /// Adds a value that was found, if its detector needs context and the value is distinctive: see
    /// [`Repeats`].
    pub(crate) fn add(&mut self, found: &Candidate, value: &str) {
        match found.detector.repeats {
            Repeats::FoundByDetector => {}
            Repeats::SearchedIfDigits => self.add_value(found, value, false),
            Repeats::SearchedIfSeveralWords => self.add_value(found, value, true),
            Repeats::SearchedAfterColon => {
                if let Some((_, password)) = value.split_once(':') {
                    self.add_value(found, password, false);
                }
            }
        }
    }

    fn add_value(&mut self, found: &Candidate, value: &str, needs_words: bool) {
        if value.len() < MIN_FOLDED || self.count >= self.max_entries {
            return;
        }
        let normalized = NormalizedText::new(value);
        let bytes = normalized.text().as_bytes();
        let folded: Vec<u8> = Folded::new(bytes, 0)
            .map(|(byte, _)| byte)
            .take(MAX_FOLDED + 1)
            .collect();
        let complete = bytes.iter().filter(|b| is_word(**b)).count() == folded.len();
        let is_number = folded.iter().all(u8::is_ascii_digit);
        let distinctive = match needs_words {
            true => value.trim().contains(' '),
            false => folded.iter().any(u8::is_ascii_digit) || folded.len() >= LONG_FOLDED,
        };
        if !complete || !distinctive || !(MIN_FOLDED..=MAX_FOLDED).contains(&folded.len()) {
            return;
        }
        let hash = self.hash(&folded);
        let prefix = packed(&folded);
        let prefix_hash = self.hash(&prefix.to_le_bytes());
        let same_prefix = self.entries.entry(prefix_hash).or_default();
        let known = |entry: &Entry| entry.hash == hash && entry.length == folded.len();
        if same_prefix.len() >= MAX_SAME_PREFIX || same_prefix.iter().any(known) {
            return;
        }
        let symbols = |bytes: &mut dyn Iterator<Item = &u8>| {
            bytes
                .take_while(|b| b.is_ascii_graphic() && !is_word(**b))
                .count()
        };
        let for_session = !is_number || folded.len() >= MIN_SESSION_DIGITS;
        let entry = Entry {
            length: folded.len(),
            hash,
            is_number,
            around: (symbols(&mut bytes.iter()), symbols(&mut bytes.iter().rev())),
            for_session,
            found: *found,
        };
        let at = same_prefix.partition_point(|known| known.length <= entry.length);
        same_prefix.insert(at, entry);
        if !for_session {
            self.of_reply.push(prefix_hash);
        }
        self.count += 1;
        self.additions += 1;
        self.filter.resize((1 << FILTER_BITS) / 64, 0);
        let (word, bit) = filter_bit(prefix);
        self.filter[word] |= bit;
    }

    /// The occurrences of the values in a normalized text from an offset on, in order and without
    /// overlaps.
    pub(crate) fn occurrences(&self, text: &str, from: usize) -> Vec<Candidate> {
        let mut found = Vec::new();
        if self.count == 0 {
            return found;
        }
        let bytes = text.as_bytes();
        let (mut at, mut joined) = (from, false);
        while let Some(byte) = bytes.get(at) {
            let begins = match byte {
                // A continuation byte belongs to the character before.
                0x80..0xC0 => false,
                _ => {
                    let follows_letter = std::mem::replace(&mut joined, is_letter(*byte));
                    is_word(*byte) && !follows_letter
                }
            };
            match begins.then(|| self.longest_at(bytes, at)).flatten() {
                Some((end, entry)) => {
                    let (before, after) = entry.around;
                    let symbol = |b: &&u8| b.is_ascii_graphic() && !is_word(**b);
                    let head = bytes[from..at].iter().rev().take(before);
                    let tail = bytes[end..].iter().take(after);
                    found.push(Candidate {
                        start: at - head.take_while(symbol).count(),
                        end: end + tail.take_while(symbol).count(),
                        ..entry.found
                    });
                    (at, joined) = (end, true);
                }
                None => at += 1,
            }
        }
        found
    }

    /// The end of the longest value that begins at an offset.
    fn longest_at(&self, bytes: &[u8], start: usize) -> Option<(usize, &Entry)> {
        let mut folded = Folded::new(bytes, start);
        let mut buffer = [0; MAX_FOLDED];
        for byte in &mut buffer[..MIN_FOLDED] {
            *byte = folded.next()?.0;
        }
        let prefix = packed(&buffer);
        let (word, bit) = filter_bit(prefix);
        if self.filter[word] & bit == 0 {
            return None;
        }
        let entries = self.entries.get(&self.hash(&prefix.to_le_bytes()))?;
        let mut hasher = SipHasher13::new_with_key(&self.hash_key);
        let (mut length, mut hashed, mut end) = (MIN_FOLDED, 0, folded.at);
        let mut longest = None;
        for entry in entries {
            while length < entry.length {
                let Some((byte, after)) = folded.next() else {
                    return longest;
                };
                buffer[length] = byte;
                (length, end) = (length + 1, after);
            }
            hasher.write(&buffer[hashed..length]);
            hashed = length;
            let ends = match entry.is_number {
                true => stands_alone(bytes, start, end),
                false => bytes.get(end).is_none_or(|next| !is_letter(*next)),
            };
            if ends && hasher.finish128().as_u128() == entry.hash {
                longest = Some((end, entry));
            }
        }
        longest
    }

    fn hash(&self, bytes: &[u8]) -> u128 {
        let mut hasher = SipHasher13::new_with_key(&self.hash_key);
        hasher.write(bytes);
        hasher.finish128().as_u128()
    }
}

/// The first bytes of a folded value as a number.
fn packed(folded: &[u8]) -> u64 {
    folded[..MIN_FOLDED]
        .iter()
        .fold(0, |packed, byte| packed << 8 | u64::from(*byte))
}

/// The word and the bit of a prefix in the filter.
fn filter_bit(prefix: u64) -> (usize, u64) {
    // The multiplier of Fibonacci hashing; the highest bits of the product are mixed best.
    let bit = prefix.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - FILTER_BITS);
    ((bit / 64) as usize, 1 << (bit % 64))
}

/// The letters and digits of a text from an offset on, ASCII in lower case, each with the offset after
/// it; up to a gap that is too wide for one value.
struct Folded<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Folded<'t> {
    fn new(bytes: &'t [u8], at: usize) -> Self {
        Self { bytes, at }
    }
}

impl Iterator for Folded<'_> {
    type Item = (u8, usize);

    fn next(&mut self) -> Option<Self::Item> {
        for (gap, byte) in self.bytes.get(self.at..)?.iter().enumerate() {
            if is_word(*byte) {
                self.at += gap + 1;
                return Some((byte.to_ascii_lowercase(), self.at));
            }
            if gap >= MAX_GAP {
                break;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::DETECTORS;
    use crate::{Kind, known_values::KnownValues};

    fn candidate(repeats: Repeats) -> Candidate {
        Candidate {
            start: 0,
            end: 1,
            kind: Kind::new("X"),
            detector: DETECTORS
                .iter()
                .find(|d| d.repeats == repeats)
                .expect("a detector"),
            confidence: 0.9,
        }
    }

    fn known(repeats: Repeats, values: &[&str]) -> KnownValues {
        let mut known = KnownValues::new([7; 16], 10_000);
        for value in values {
            known.add(&candidate(repeats), value);
        }
        known
    }

    fn found<'t>(known: &KnownValues, text: &'t str) -> Vec<&'t str> {
        let found = known.occurrences(text, 0);
        found.iter().map(|c| &text[c.start..c.end]).collect()
    }

    #[test]
    fn a_value_is_found_again_in_another_notation() {
        let names = known(
            Repeats::SearchedIfSeveralWords,
            &["Johanna Quistorp", "Li Wu"],
        );
        let text = "JOHANNA QUISTORP, johanna-quistorp; JohannaQuistorp. xJohanna Quistorp Li Wu";
        assert_eq!(
            found(&names, text),
            ["JOHANNA QUISTORP", "johanna-quistorp", "JohannaQuistorp"]
        );
        let secrets = known(
            Repeats::SearchedIfDigits,
            &["$Tr0ub4dor-3!!", "536 22 1234", "abc"],
        );
        assert_eq!(
            found(
                &secrets,
                "is $Tr0ub4dor-3!! or 536221234 or 536221234.5 abc"
            ),
            ["$Tr0ub4dor-3!!", "536221234"]
        );
    }

    #[test]
    fn the_longest_of_several_values_with_one_beginning_is_found() {
        let known = known(
            Repeats::SearchedIfDigits,
            &["secret1", "secret1-and-2", "secret12"],
        );
        assert_eq!(
            found(&known, "secret1 secret1-and-2 secret12 secret1-and"),
            ["secret1", "secret1-and-2", "secret12", "secret1"]
        );
    }

    #[test]
    fn a_short_number_is_forgotten_after_the_reply() {
        let mut known = known(Repeats::SearchedIfDigits, &["123456", "12345678"]);
        assert_eq!(found(&known, "123456 12345678"), ["123456", "12345678"]);
        known.end_reply();
        assert_eq!(found(&known, "123456 12345678"), ["12345678"]);
    }

    #[test]
    fn the_password_of_a_url_is_found_alone() {
        let known = known(Repeats::SearchedAfterColon, &["app:s3cr3tly"]);
        assert_eq!(found(&known, "it was s3cr3tly"), ["s3cr3tly"]);
    }
}
