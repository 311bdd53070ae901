//! A plain reading of a disguised text: look-alikes, invisible characters, URL-encoding and the
//! escapes of JSON and HTML are resolved, and every place in the reading leads back to the text.

use std::borrow::Cow;
use std::ops::Range;

use crate::lookalike::{Reading, may_begin, reading};
use crate::skip;

/// Encodings can be nested; this many layers are undone.
const MAX_LAYERS: usize = 3;

/// A text as detectors read it.
pub(crate) struct Folded<'t> {
    text: Cow<'t, str>,
    /// From the innermost reading out to the text; empty when nothing was disguised.
    layers: Vec<Vec<Piece>>,
}

/// A stretch of the reading and the stretch of the layer below it that it came from.
struct Piece {
    from: usize,
    source: Range<usize>,
    /// The bytes are the same, so places inside the stretch correspond one to one.
    verbatim: bool,
}

impl<'t> Folded<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut folded = Self {
            text: Cow::Borrowed(text),
            layers: Vec::new(),
        };
        while folded.layers.len() < MAX_LAYERS {
            let Some((reading, pieces)) = fold(&folded.text) else {
                break;
            };
            folded.text = Cow::Owned(reading);
            folded.layers.push(pieces);
        }
        folded
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The stretch of the original text that a stretch of the reading came from.
    pub(crate) fn source(&self, range: Range<usize>) -> Range<usize> {
        self.layers.iter().rev().fold(range, |range, pieces| {
            let piece = |at: usize| {
                let after = pieces.partition_point(|p| p.from <= at);
                &pieces[after.saturating_sub(1)]
            };
            let first = piece(range.start);
            let start = match first.verbatim {
                true => first.source.start + (range.start - first.from),
                false => first.source.start,
            };
            let last = piece(range.end.saturating_sub(1).max(range.start));
            let end = match last.verbatim {
                true => last.source.start + (range.end - last.from),
                false => last.source.end,
            };
            start..end.max(start)
        })
    }
}

/// Whether a disguise can begin with this byte.
fn is_interesting(byte: u8) -> bool {
    (byte >= 0x80) | (byte == b'%') | (byte == b'\\') | (byte == b'&')
}

fn fold(text: &str) -> Option<(String, Vec<Piece>)> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(place) = skip::to(bytes, at, is_interesting) {
        at = place;
        let Some((length, meaning)) = disguise(text, at) else {
            at += char_length(bytes[at]);
            continue;
        };
        if copied == 0 {
            out.reserve(text.len());
        }
        if copied < at {
            pieces.push(Piece {
                from: out.len(),
                source: copied..at,
                verbatim: true,
            });
            out.push_str(&text[copied..at]);
        }
        if let Some(byte) = meaning {
            pieces.push(Piece {
                from: out.len(),
                source: at..at + length,
                verbatim: false,
            });
            out.push(byte as char);
        }
        at += length;
        copied = at;
    }
    if copied == 0 {
        return None;
    }
    pieces.push(Piece {
        from: out.len(),
        source: copied..text.len(),
        verbatim: true,
    });
    out.push_str(&text[copied..]);
    Some((out, pieces))
}

fn char_length(first: u8) -> usize {
    match first {
        0..=0xBF => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        _ => 4,
    }
}

/// The length of the disguise at a place and the ASCII byte it means, if any.
fn disguise(text: &str, at: usize) -> Option<(usize, Option<u8>)> {
    let bytes = text.as_bytes();
    match bytes[at] {
        b'%' => Some((3, Some(printable(hex(bytes.get(at + 1..at + 3)?)?)?))),
        b'\\' => escape(bytes, at),
        b'&' => entity(bytes, at),
        first if may_begin(first) => {
            let c = text[at..].chars().next()?;
            match reading(c) {
                Reading::As(byte) => Some((c.len_utf8(), Some(byte))),
                Reading::Nothing => Some((c.len_utf8(), None)),
                Reading::LooksLike(byte) if within_ascii_word(text, at) => {
                    Some((c.len_utf8(), Some(byte)))
                }
                Reading::LooksLike(_) | Reading::Itself => None,
            }
        }
        _ => None,
    }
}

fn escape(bytes: &[u8], at: usize) -> Option<(usize, Option<u8>)> {
    match bytes.get(at + 1)? {
        b'u' => Some((6, Some(printable(hex(bytes.get(at + 2..at + 6)?)?)?))),
        b'x' => Some((4, Some(printable(hex(bytes.get(at + 2..at + 4)?)?)?))),
        b'n' | b'r' => Some((2, Some(b'\n'))),
        b't' => Some((2, Some(b'\t'))),
        quoted @ (b'"' | b'\'' | b'/' | b'\\') => Some((2, Some(*quoted))),
        _ => None,
    }
}

fn entity(bytes: &[u8], at: usize) -> Option<(usize, Option<u8>)> {
    let window = &bytes[at..bytes.len().min(at + 9)];
    let end = memchr::memchr(b';', window)?;
    let code = match &window[1..end] {
        [b'#', b'x' | b'X', digits @ ..] => hex(digits)?,
        [b'#', digits @ ..] => std::str::from_utf8(digits).ok()?.parse().ok()?,
        b"amp" => u32::from(b'&'),
        b"quot" => u32::from(b'"'),
        b"commat" => u32::from(b'@'),
        b"period" => u32::from(b'.'),
        b"colon" => u32::from(b':'),
        _ => return None,
    };
    Some((end + 1, Some(printable(code)?)))
}

fn hex(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 6 {
        return None;
    }
    digits.iter().try_fold(0, |value, digit| {
        Some(value * 16 + (*digit as char).to_digit(16)?)
    })
}

fn printable(code: u32) -> Option<u8> {
    u8::try_from(code).ok().filter(|b| (0x20..0x7F).contains(b))
}

/// Whether the run of look-alike letters around a place touches an ASCII letter or digit.
fn within_ascii_word(text: &str, at: usize) -> bool {
    let looks = |c: &char| matches!(reading(*c), Reading::LooksLike(_));
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '@');
    let before = text[..at].chars().rev().take(16).find(|c| !looks(c));
    let after = text[at..].chars().take(16).find(|c| !looks(c));
    joins(before) || joins(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_text_is_read_as_it_is() {
        for text in [
            "",
            "plain",
            "100% of it",
            "C:\\dir",
            "Привет, мир",
            "naïve café",
        ] {
            assert_eq!(Folded::new(text).text(), text);
        }
    }

    #[test]
    fn disguises_are_resolved_and_lead_back() {
        for (text, plain, source) in [
            ("x a%40b.de y", "a@b.de", "a%40b.de"),
            ("x a%2540b.de y", "a@b.de", "a%2540b.de"),
            (r"x a\u0040b.de y", "a@b.de", r"a\u0040b.de"),
            ("x a&#64;b.de y", "a@b.de", "a&#64;b.de"),
            ("x a@b\u{200b}.de y", "a@b.de", "a@b\u{200b}.de"),
            ("x a＠b．de y", "a@b.de", "a＠b．de"),
            ("x ４１１１ y", "4111", "４１１１"),
            ("x 4\u{fe0f}1\u{332}11 y", "4111", "4\u{fe0f}1\u{332}11"),
            ("x \u{e0034}\u{e0031} y", "41", "\u{e0034}\u{e0031}"),
            ("x аdа@b.de y", "ada@b.de", "аdа@b.de"),
        ] {
            let folded = Folded::new(text);
            let start = folded.text().find(plain).expect(text);
            let range = folded.source(start..start + plain.len());
            assert_eq!(&text[range], source);
        }
    }

    #[test]
    fn a_text_that_begins_with_invisible_characters_leads_back_too() {
        let text = "\u{200b}\u{feff}ab\u{200b}c";
        let folded = Folded::new(text);
        assert_eq!(folded.text(), "abc");
        assert_eq!(&text[folded.source(0..3)], "ab\u{200b}c");
        assert_eq!(&text[folded.source(2..3)], "c");
    }
}
