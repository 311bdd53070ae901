//! Finds the words and prefixes that detectors asked for, in one pass.
//!
//! The first bytes of a literal, hashed, set one bit of a small table; at each place of a text one
//! bit is looked up. That needs no state from one byte to the next, so a processor does several
//! places at once, where an automaton for a thousand words waits for its own large table.

use std::ops::Range;

use crate::detect::{Detector, LiteralCheck};

/// A literal of at least two bytes, the detector that asked for it, and its place in that detector's list.
#[derive(Clone, Copy)]
pub(crate) struct Literal {
    text: &'static str,
    pub(crate) detector: &'static Detector,
    pub(crate) index: usize,
    pub(crate) check: LiteralCheck,
}

pub(crate) struct Literals {
    /// Those of up to three bytes, and those of four and more.
    short: Table,
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
            // Whatever the third byte is.
            [a, b] => (0..=u8::MAX).for_each(|c| self.short.add([a, b, c, 0], literal)),
            [a, b, c] => self.short.add([a, b, c, 0], literal),
            [a, b, c, d, ..] => self.long.add([a, b, c, d], literal),
            [] | [_] => {}
        }
    }

    /// Calls `found` with each literal that stands in the text, whatever its case, and its place. One
    /// of two bytes needs another after it.
    #[inline]
    pub(crate) fn each(&self, bytes: &[u8], mut found: impl FnMut(&Literal, Range<usize>)) {
        let mut at_place = |at: usize, word: u32| {
            for table in [&self.long, &self.short] {
                if table.may_hold(word) {
                    table.each(bytes, at, word, &mut found);
                }
            }
        };
        for (at, word) in bytes.windows(4).enumerate() {
            at_place(at, u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        }
        if let Some([a, b, c]) = bytes.last_chunk() {
            at_place(bytes.len() - 3, u32::from_le_bytes([*a, *b, *c, 0]));
        }
    }
}

/// As many bits as hashes.
const HASH_BITS: u32 = 16;

struct Table {
    /// The bytes of a word that count.
    mask: u32,
    bits: Vec<u64>,
    /// For each hash, which bucket has its literals.
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

    /// Letters hash alike whatever their case; some signs do too, which costs a comparison.
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
        // Bytes that hash alike bring a literal of two here more than once.
        let is_last = |last: &Literal| {
            last.index == literal.index && std::ptr::eq(last.detector, literal.detector)
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
    fn each(
        &self,
        bytes: &[u8],
        at: usize,
        word: u32,
        found: &mut impl FnMut(&Literal, Range<usize>),
    ) {
        for literal in &self.buckets[usize::from(self.slots[self.hash(word)])] {
            let place = at..at + literal.text.len();
            let here = bytes.get(place.clone());
            if here.is_some_and(|here| here.eq_ignore_ascii_case(literal.text.as_bytes())) {
                found(literal, place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{DETECTORS, Trigger};

    fn places(literals: &[&'static str], text: &str) -> Vec<(usize, Range<usize>)> {
        let mut table = Literals::new();
        for (index, literal) in literals.iter().enumerate() {
            table.add(literal, DETECTORS[0], index, |_, _, _| ());
        }
        let mut places = Vec::new();
        table.each(text.as_bytes(), |literal, place| {
            places.push((literal.index, place))
        });
        places
    }

    #[test]
    fn literals_are_found_everywhere_in_any_case_and_overlapping() {
        let literals = ["via", "name", "first_name", "ame:", "SK"];
        let found = places(&literals, "NAME: via First_Name");
        assert_eq!(
            found,
            [(1, 0..4), (3, 1..5), (0, 6..9), (2, 10..20), (1, 16..20)]
        );
        assert_eq!(places(&literals, "ask skX"), [(4, 1..3), (4, 4..6)]);
        assert_eq!(places(&literals, "via"), [(0, 0..3)]);
        assert_eq!(places(&literals, "vi"), []);
        assert_eq!(places(&literals, "first_nam"), []);
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
