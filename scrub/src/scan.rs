//! One pass over one text: the input that detectors see, and the candidates they add.

use std::cell::OnceCell;
use std::ops::Range;

use crate::detect::{CUSTOM, Detector};
use crate::{Kind, boundary, context, placeholder};

/// A value that is found from its middle or end extends at most this far back.
const MAX_BACK: usize = 512;

/// Placeholders are shorter.
const MAX_PLACEHOLDER: usize = 128;

/// A longer text is more than one value.
const MAX_WHOLE_TEXT: usize = 64;

/// A range that may be private, in bytes of the scanned text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Kind,
    pub(crate) detector: &'static Detector,
    pub(crate) confidence: f32,
}

/// The text a detector looks at. A JSON string is scanned as `key: value`, so that a key is
/// context like any other word; `key_end` is where the value begins.
pub(crate) struct Scan<'t> {
    pub(crate) text: &'t str,
    pub(crate) bytes: &'t [u8],
    pub(crate) key_end: usize,
    detector: &'static Detector,
    /// Tokens that may be base64-encoded text.
    pub(crate) base64_tokens: Vec<Range<usize>>,
    /// At a number: how many letters and digits follow before a gap.
    pub(crate) number_chars: usize,
    /// At a number: how many digits it begins with.
    pub(crate) leading_digits: usize,
    /// The range of the value in a short text without a key that contains nothing else.
    pub(crate) whole_value: Option<Range<usize>>,
    pub(crate) candidates: Vec<Candidate>,
    /// Where keys, certificates and signatures that are public stand; found when it is first needed.
    public_blocks: OnceCell<Vec<Range<usize>>>,
}

impl<'t> Scan<'t> {
    pub(crate) fn new(text: &'t str, key_end: usize) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            key_end,
            detector: &CUSTOM,
            base64_tokens: Vec::new(),
            number_chars: 0,
            leading_digits: 0,
            whole_value: whole_value(text, key_end),
            candidates: Vec::new(),
            public_blocks: OnceCell::new(),
        }
    }

    /// Sets the detector of the candidates that are added next.
    pub(crate) fn set_detector(&mut self, detector: &'static Detector) {
        self.detector = detector;
    }

    /// Adds a candidate. The scrubber drops those that are empty or begin within the JSON key.
    pub(crate) fn add(&mut self, kind: Kind, start: usize, end: usize, confidence: f32) {
        self.candidates.push(Candidate {
            start,
            end,
            kind,
            detector: self.detector,
            confidence,
        });
    }

    /// Adds a match of one of the operator's own patterns, which are certain.
    pub(crate) fn add_custom(&mut self, kind: Kind, range: Range<usize>) {
        self.detector = &CUSTOM;
        self.add(kind, range.start, range.end, 1.0);
    }

    /// Adds a token that may be base64-encoded text.
    pub(crate) fn add_base64_token(&mut self, range: Range<usize>) {
        self.base64_tokens.push(range);
    }

    /// Whether the text is this range and nothing else: a value on its own, not a part of a
    /// sentence.
    pub(crate) fn is_whole_text(&self, start: usize, end: usize) -> bool {
        self.whole_value
            .as_ref()
            .is_some_and(|whole| (whole.start, whole.end) == (start, end))
    }

    /// Whether an offset is within a public block such as `-----BEGIN CERTIFICATE-----`.
    pub(crate) fn in_public_block(&self, at: usize) -> bool {
        let blocks = self.public_blocks.get_or_init(|| public_blocks(self.bytes));
        let after = blocks.partition_point(|block| block.start <= at);
        after > 0 && at < blocks[after - 1].end
    }

    /// The byte at an offset, or 0 past the end.
    pub(crate) fn at(&self, at: usize) -> u8 {
        boundary::at(self.bytes, at)
    }

    /// The byte before an offset, or 0 at the start.
    pub(crate) fn before(&self, at: usize) -> u8 {
        boundary::before(self.bytes, at)
    }

    /// Whether a letter or digit right before an offset joins a value there: see
    /// [`boundary::follows_letter`].
    pub(crate) fn joins_before(&self, at: usize) -> bool {
        boundary::follows_letter(self.bytes, at)
    }

    /// Whether a letter or digit at an offset joins a value that ends there: see
    /// [`boundary::is_letter`].
    pub(crate) fn joins_at(&self, at: usize) -> bool {
        boundary::is_letter(self.at(at))
    }

    /// Whether one of the words is close to the range: see [`context::has_word_near`].
    pub(crate) fn has_word_near(&self, start: usize, end: usize, words: &[&str]) -> bool {
        context::has_word_near(self.text, start, end, words)
    }

    /// The end of the run of bytes of a class that begins at `at`.
    pub(crate) fn run(&self, at: usize, class: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        at + rest.iter().position(|b| !class(*b)).unwrap_or(rest.len())
    }

    /// As `run`, over at most `most` bytes.
    pub(crate) fn run_at_most(&self, at: usize, most: usize, class: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = &rest[..rest.len().min(most)];
        at + rest.iter().position(|b| !class(*b)).unwrap_or(rest.len())
    }

    /// The start of the run of bytes of a class that ends at `at`. The distance is bounded, so that
    /// many calls within one long run do not take quadratic time.
    pub(crate) fn run_back(&self, at: usize, class: impl Fn(u8) -> bool) -> usize {
        let from = at.saturating_sub(MAX_BACK);
        let rest = &self.bytes[from..at];
        from + rest.iter().rposition(|b| !class(*b)).map_or(0, |i| i + 1)
    }

    /// The start of the value after a label that ends at `at`: past quotes, `:`, `=`, `->`, spaces
    /// and the asterisks of Markdown. `None` if no such separator follows.
    pub(crate) fn value_after(&self, at: usize) -> Option<usize> {
        let mut offset = self.run(at, |b| {
            matches!(b, b'"' | b'\'' | b'`' | b']' | b')' | b'\\' | b'*')
        });
        offset = self.run(offset, |b| matches!(b, b' ' | b'\t'));
        // `?=` and `!=` are written with a sign before.
        if matches!(self.at(offset), b'?' | b'!' | b'+' | b'.') && self.at(offset + 1) == b'=' {
            offset += 1;
        }
        let separator = offset;
        offset = self.run_at_most(offset, 5, |b| matches!(b, b':' | b'=' | b'>'));
        // `:::=` is an assignment of make.
        if offset == separator || offset - separator > 4 {
            return None;
        }
        if self.bytes[offset..].starts_with(b"** ") {
            offset += 2;
        }
        offset = self.run(offset, |b| matches!(b, b' ' | b'\t'));
        let value = self.run(offset, |b| matches!(b, b'"' | b'\'' | b'`'));
        // The quote of `["api_key=", …` closes a string instead of opening a value.
        let closes = matches!(
            self.at(value),
            0 | b',' | b']' | b'}' | b':' | b')' | b';' | b'\n'
        );
        (value == offset || !closes).then_some(value)
    }

    /// The end of the placeholders that begin at an offset, one right after the other.
    pub(crate) fn skip_placeholders(&self, at: usize) -> usize {
        std::iter::successors(Some(at), |at| self.placeholder_end(*at))
            .last()
            .unwrap_or(at)
    }

    /// The end of the placeholder that begins at an offset.
    pub(crate) fn placeholder_end(&self, at: usize) -> Option<usize> {
        if self.at(at) != b'[' || !self.at(at + 1).is_ascii_uppercase() {
            return None;
        }
        let end = self.run_at_most(at + 1, MAX_PLACEHOLDER, |b| b != b'[' && b != b']');
        let window = self.text.get(at..end + 1)?;
        placeholder::spans(window).next().map(|span| at + span.end)
    }

    /// Whether a label that ends at `at` is in the JSON key, so that its value is the whole rest.
    pub(crate) fn in_key(&self, at: usize) -> bool {
        at <= self.key_end && self.key_end > 0
    }
}

/// The blocks of public keys, certificates, signatures and messages.
fn public_blocks(bytes: &[u8]) -> Vec<Range<usize>> {
    const PUBLIC: [&str; 5] = [
        "PUBLIC KEY",
        "CERTIFICATE",
        "SIGNATURE",
        "MESSAGE",
        "REQUEST",
    ];
    /// A title is shorter.
    const MAX_TITLE: usize = 64;
    /// A block is shorter.
    const MAX_BLOCK: usize = 64 * 1024;
    let starts: Vec<usize> = memchr::memmem::find_iter(bytes, b"-----BEGIN ").collect();
    let mut blocks = Vec::new();
    for (index, start) in starts.iter().copied().enumerate() {
        let limit = starts.get(index + 1).copied().unwrap_or(bytes.len());
        let block = &bytes[start..limit.min(start + MAX_BLOCK)];
        let title = &block[..block.len().min(MAX_TITLE)];
        let line = memchr::memchr(b'\n', title).unwrap_or(title.len());
        let is_public =
            |word: &&str| memchr::memmem::find(&title[..line], word.as_bytes()).is_some();
        if PUBLIC.iter().any(is_public) {
            let end = memchr::memmem::find(block, b"-----END ");
            blocks.push(start..start + end.unwrap_or_else(|| armour_end(block, line)));
        }
    }
    blocks
}

/// The end of a block without an end line: its lines of base64, which have one width.
fn armour_end(block: &[u8], title: usize) -> usize {
    const MIN_WIDTH: usize = 40;
    let base64 = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let (mut end, mut width) = (title, None);
    while end < block.len() {
        let rest = &block[end + 1..];
        let next = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest[..next].trim_ascii();
        let fits = width.is_none_or(|width| width == line.len());
        if line.len() < MIN_WIDTH || !fits || !line.iter().all(base64) {
            break;
        }
        width = Some(line.len());
        end += 1 + next;
    }
    end
}

/// A short text without the quotes, brackets and full stops around it.
fn whole_value(text: &str, key_end: usize) -> Option<Range<usize>> {
    if key_end > 0 || text.len() > MAX_WHOLE_TEXT {
        return None;
    }
    let part = |c: char| c.is_alphanumeric() || c == '+';
    let start = text.find(part)?;
    let end = text.rfind(part)? + 1;
    text.is_char_boundary(end).then_some(start..end)
}
