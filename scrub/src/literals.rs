//! Multi-pattern search for the words and prefixes that trigger detectors, in one pass.
//!
//! The hash of a literal's first bytes sets one bit of a small table, and one bit is looked up at
//! each offset of the text. No state is carried from byte to byte, so the CPU overlaps the lookups
//! of several offsets; an automaton for a thousand words would wait for its own large table.

use std::ops::Range;

use crate::detect::{Detector, LiteralCheck};

/// A literal of at least two bytes, its detector, and its index in that detector's list.
#[derive(Clone, Copy)]
pub(crate) struct Literal {
    text: &'static str,
    pub(crate) detector: &'static Detector,
    pub(crate) index: usize,
    pub(crate) check: LiteralCheck,
}

/// All literals of the enabled detectors.
pub(crate) struct Literals {
    /// Literals of two and three bytes.
    short: Table,
    /// Literals of four bytes and more.
    long: Table,
}

impl Literals {
    pub(crate) fn new() -> Self {
        Self {
            short: Table::new(0x00FF_FFFF),
            long: Table::new(0xFFFF_FFFF),
        }
    }

    pub(crate) fn add(
        &mut self,
        text: &'static str,
        detector: &'static Detector,
        index: usize,
        check: LiteralCheck,
    ) {
        let literal = Literal {
            text,
            detector,
            index,
            check,
        };
        match *text.as_bytes() {
            // With every third byte.
            [a, b] => (0..=u8::MAX).for_each(|c| self.short.add([a, b, c, 0], literal)),
            [a, b, c] => self.short.add([a, b, c, 0], literal),
            [a, b, c, d, ..] => self.long.add([a, b, c, d], literal),
            [] | [_] => {}
        }
    }

    /// Calls `found` with each literal in the text, in any case, and its range. A literal of two
    /// bytes is found only if another byte follows it.
    #[inline]
    pub(crate) fn for_each(&self, bytes: &[u8], mut found: impl FnMut(&Literal, Range<usize>)) {
        let mut look_up = |at: usize, word: u32| {
            for table in [&self.long, &self.short] {
                if table.may_hold(word) {
                    table.for_each(bytes, at, word, &mut found);
                }
            }
        };
        for (at, word) in bytes.windows(4).enumerate() {
            look_up(at, u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        }
        if let Some([a, b, c]) = bytes.last_chunk() {
            look_up(bytes.len() - 3, u32::from_le_bytes([*a, *b, *c, 0]));
        }
    }
}

/// A table has one bit for each hash: 16 KiB, so that with 1,400 literals one offset in a hundred has its bit set.
const HASH_BITS: u32 = 17;

struct Table {
    /// Selects the bytes of a word that are hashed.
    mask: u32,
    bits: Vec<u64>,
    /// For each hash, the index of the bucket with its literals.
    slots: Vec<u16>,
    buckets: Vec<Vec<Literal>>,
}

impl Table {
    fn new(mask: u32) -> Self {
        Self {
            mask,
            bits: vec![0; 1 << (HASH_BITS - 6)],
            slots: vec![0; 1 << HASH_BITS],
            buckets: Vec::new(),
        }
    }

    /// Both cases of a letter have the same hash. Some symbols collide too, which costs a
    /// comparison.
    fn hash(&self, word: u32) -> usize {
        let folded = (word | 0x2020_2020) & self.mask;
        (folded.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
    }

    fn add(&mut self, word: [u8; 4], literal: Literal) {
        let hash = self.hash(u32::from_le_bytes(word));
        let bit = 1 << (hash % 64);
        if self.bits[hash / 64] & bit == 0 {
            self.bits[hash / 64] |= bit;
            self.slots[hash] = self.buckets.len() as u16;
            self.buckets.push(Vec::new());
        }
        let bucket = &mut self.buckets[usize::from(self.slots[hash])];
        // A hash collision among the third bytes brings a literal of two bytes here more than once.
        let is_last = |last: &Literal| {
            last.index == literal.index
                && last.text == literal.text
                && std::ptr::eq(last.detector, literal.detector)
        };
        if !bucket.last().is_some_and(is_last) {
            bucket.push(literal);
        }
    }

    #[inline]
    fn may_hold(&self, word: u32) -> bool {
        let hash = self.hash(word);
        self.bits[hash / 64] >> (hash % 64) & 1 == 1
    }

    #[cold]
    fn for_each(
        &self,
        bytes: &[u8],
        at: usize,
        word: u32,
        found: &mut impl FnMut(&Literal, Range<usize>),
    ) {
        for literal in &self.buckets[usize::from(self.slots[self.hash(word)])] {
            let range = at..at + literal.text.len();
            let here = bytes.get(range.clone());
            if here.is_some_and(|here| here.eq_ignore_ascii_case(literal.text.as_bytes())) {
                found(literal, range);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{DETECTORS, Trigger};

    fn matches(literals: &[&'static str], text: &str) -> Vec<(usize, Range<usize>)> {
        let mut table = Literals::new();
        for (index, literal) in literals.iter().enumerate() {
            table.add(literal, DETECTORS[0], index, |_, _, _| ());
        }
        let mut matches = Vec::new();
        table.for_each(text.as_bytes(), |literal, range| {
            matches.push((literal.index, range))
        });
        matches
    }

    #[test]
    fn literals_are_found_everywhere_in_any_case_and_overlapping() {
        let literals = ["via", "name", "first_name", "ame:", "SK"];
        let found = matches(&literals, "NAME: via First_Name");
        assert_eq!(
            found,
            [(1, 0..4), (3, 1..5), (0, 6..9), (2, 10..20), (1, 16..20)]
        );
        assert_eq!(matches(&literals, "ask skX"), [(4, 1..3), (4, 4..6)]);
        assert_eq!(matches(&literals, "via"), [(0, 0..3)]);
        assert_eq!(matches(&literals, "vi"), []);
        assert_eq!(matches(&literals, "first_nam"), []);
    }

    #[test]
    fn every_literal_of_every_detector_is_long_enough() {
        for detector in DETECTORS {
            for trigger in detector.triggers {
                if let Trigger::Literals(list, _) = trigger {
                    assert!(list().iter().all(|l| l.len() >= 2), "{}", detector.name);
                }
            }
        }
    }
}
