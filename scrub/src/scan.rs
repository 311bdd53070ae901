//! One look at one text: what detectors see, and where they put what they found.

use std::ops::Range;

use crate::detect::Detector;
use crate::{Kind, boundary, context};

/// No value that is found from its middle or end is longer than this before that place.
const MAX_BACK: usize = 512;

/// A longer text is more than one value.
const MAX_WHOLE: usize = 64;

/// Something that may be private, in bytes of the text that was scanned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Kind,
    pub(crate) detector: &'static str,
    pub(crate) confidence: f32,
}

/// The text a detector looks at. A JSON string is scanned as `key: value`, so that a key is
/// context like any other word; `key_end` is where the value begins.
pub(crate) struct Scan<'t> {
    pub(crate) text: &'t str,
    pub(crate) bytes: &'t [u8],
    pub(crate) key_end: usize,
    detector: &'static str,
    pub(crate) encoded: Vec<Range<usize>>,
    /// At a number: how many letters and digits follow before a gap, and how many of the first
    /// are digits.
    pub(crate) reach: usize,
    pub(crate) lead: usize,
    /// Where the value stands in a short text without a key that holds nothing else.
    pub(crate) whole: Option<Range<usize>>,
    pub(crate) found: Vec<Candidate>,
}

impl<'t> Scan<'t> {
    pub(crate) fn new(text: &'t str, key_end: usize) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            key_end,
            detector: "",
            encoded: Vec::new(),
            reach: 0,
            lead: 0,
            whole: whole(text, key_end),
            found: Vec::new(),
        }
    }

    /// Findings from here on belong to this detector.
    pub(crate) fn enter(&mut self, detector: &Detector) {
        self.detector = detector.name;
    }

    /// Notes a finding. A finding that begins within the JSON key is none.
    pub(crate) fn found(&mut self, kind: Kind, start: usize, end: usize, confidence: f32) {
        if start >= self.key_end && start < end {
            self.found.push(Candidate {
                start,
                end,
                kind,
                detector: self.detector,
                confidence,
            });
        }
    }

    /// Notes a finding that no built-in detector made; the operator's own pattern is certain.
    pub(crate) fn found_by(&mut self, detector: &'static str, kind: Kind, place: Range<usize>) {
        self.detector = detector;
        self.found(kind, place.start, place.end, 1.0);
    }

    /// Whether the text is this stretch and nothing else: somebody's value, not a part of a sentence.
    pub(crate) fn is_whole(&self, start: usize, end: usize) -> bool {
        self.whole
            .as_ref()
            .is_some_and(|whole| (whole.start, whole.end) == (start, end))
    }

    /// Notes a token that may be text in base64.
    pub(crate) fn encoded(&mut self, place: Range<usize>) {
        self.encoded.push(place);
    }

    pub(crate) fn at(&self, at: usize) -> u8 {
        boundary::at(self.bytes, at)
    }

    pub(crate) fn before(&self, at: usize) -> u8 {
        boundary::before(self.bytes, at)
    }

    pub(crate) fn near(&self, start: usize, end: usize, words: &[&str]) -> bool {
        context::near(self.text, start, end, words)
    }

    /// The end of the run of bytes from `at` that a class holds.
    pub(crate) fn run(&self, at: usize, class: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        at + rest.iter().position(|b| !class(*b)).unwrap_or(rest.len())
    }

    /// The same, looking at no more than so many bytes.
    pub(crate) fn run_most(&self, at: usize, most: usize, class: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = &rest[..rest.len().min(most)];
        at + rest.iter().position(|b| !class(*b)).unwrap_or(rest.len())
    }

    /// The start of the run of bytes before `at` that a class holds. It looks back a bounded way,
    /// so that many places in one long run cannot cost time that grows with its square.
    pub(crate) fn run_back(&self, at: usize, class: impl Fn(u8) -> bool) -> usize {
        let from = at.saturating_sub(MAX_BACK);
        let rest = &self.bytes[from..at];
        from + rest.iter().rposition(|b| !class(*b)).map_or(0, |i| i + 1)
    }

    /// The place of the value after a label that ends at `at`: past quotes, `:`, `=`, `->`, spaces
    /// and the stars of Markdown. `None` if no such sign stands there.
    pub(crate) fn value_after(&self, at: usize) -> Option<usize> {
        let mut place = self.run(at, |b| {
            matches!(b, b'"' | b'\'' | b'`' | b']' | b')' | b'\\' | b'*')
        });
        place = self.run(place, |b| matches!(b, b' ' | b'\t'));
        let sign = place;
        place = self.run(place, |b| matches!(b, b':' | b'=' | b'>'));
        if place == sign || place - sign > 2 {
            return None;
        }
        if self.bytes[place..].starts_with(b"** ") {
            place += 2;
        }
        place = self.run(place, |b| matches!(b, b' ' | b'\t'));
        let value = self.run(place, |b| matches!(b, b'"' | b'\'' | b'`'));
        // The quote of `["api_key=", …` closes a string instead of opening a value.
        let closes = matches!(
            self.at(value),
            0 | b',' | b']' | b'}' | b':' | b')' | b';' | b'\n'
        );
        (value == place || !closes).then_some(value)
    }

    /// Whether a label that ends at `at` lies in the JSON key, so that its value is the whole rest.
    pub(crate) fn in_key(&self, at: usize) -> bool {
        at <= self.key_end && self.key_end > 0
    }
}

/// The stretch of a short text without its quotes, brackets and full stops.
fn whole(text: &str, key_end: usize) -> Option<Range<usize>> {
    if key_end > 0 || text.len() > MAX_WHOLE {
        return None;
    }
    let part = |c: char| c.is_alphanumeric() || c == '+';
    let start = text.find(part)?;
    let end = text.rfind(part)? + 1;
    text.is_char_boundary(end).then_some(start..end)
}
