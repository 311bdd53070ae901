//! Undoes obfuscation: homoglyphs, invisible characters, percent-encoding and the escapes of JSON
//! and HTML are resolved, and every range of the normalized text maps back to the original.

use std::borrow::Cow;
use std::ops::Range;

use crate::byte_search;
use crate::confusables::{Mapping, SEPARATOR, mapping, may_begin};

/// Encodings can be nested; this many layers are decoded.
const MAX_LAYERS: usize = 3;

/// A part of the name of the encoding in a message's header (RFC 2045). Without the header, `=40` is code.
const QUOTED_PRINTABLE: &[u8] = b"uoted-printable";

/// A text as detectors see it.
pub(crate) struct NormalizedText<'t> {
    text: Cow<'t, str>,
    /// The text before each layer of decoding, the original first.
    earlier: Vec<Cow<'t, str>>,
    /// In the order of decoding; empty if nothing was encoded.
    layers: Vec<Vec<Segment>>,
}

/// A range of a layer and the range of the layer before it that it was decoded from.
struct Segment {
    from: usize,
    source: Range<usize>,
    /// The bytes are the same, so offsets inside the segment correspond one to one.
    verbatim: bool,
}

impl<'t> NormalizedText<'t> {
    /// The text, its quoted-printable left as it is.
    pub(crate) fn new(text: &'t str) -> Self {
        let mut normalized = Self::undecoded(text);
        normalized.decode();
        normalized
    }

    /// The text with its quoted-printable decoded; `None` if it names no such encoding or has nothing in it.
    /// Both readings of a text are scanned: in `KEY=41…` the decoded one has lost the `=`.
    pub(crate) fn from_quoted_printable(text: &'t str) -> Option<Self> {
        memchr::memmem::find(text.as_bytes(), QUOTED_PRINTABLE)?;
        let mut normalized = Self::undecoded(text);
        let layer = decode_layer(text, |byte| byte == b'=', quoted_printable);
        normalized.add_layer(layer).then(|| {
            normalized.decode();
            normalized
        })
    }

    /// The readings of a text: as it is, and with its quoted-printable decoded.
    pub(crate) fn readings(text: &'t str) -> impl Iterator<Item = Self> {
        std::iter::once(Self::new(text)).chain(Self::from_quoted_printable(text))
    }

    fn undecoded(text: &'t str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            earlier: Vec::new(),
            layers: Vec::new(),
        }
    }

    /// Decodes layers until nothing is encoded.
    fn decode(&mut self) {
        while self.layers.len() < MAX_LAYERS {
            let layer = decode_layer(&self.text, may_begin_encoded, decode_at);
            if !self.add_layer(layer) {
                break;
            }
        }
    }

    /// Adds a decoded layer; `false` if nothing was encoded.
    fn add_layer(&mut self, layer: Option<(String, Vec<Segment>)>) -> bool {
        let Some((decoded, segments)) = layer else {
            return false;
        };
        let before = std::mem::replace(&mut self.text, Cow::Owned(decoded));
        self.earlier.push(before);
        self.layers.push(segments);
        true
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The texts before the normalized one, the original first. None if nothing was encoded.
    pub(crate) fn earlier(&self) -> &[Cow<'t, str>] {
        &self.earlier
    }

    /// The range of the original text that a range of the normalized text came from.
    pub(crate) fn source(&self, range: Range<usize>) -> Range<usize> {
        self.source_of(self.layers.len(), range)
    }

    /// As [`source`](Self::source), for a range of the text after `layers` layers of decoding.
    pub(crate) fn source_of(&self, layers: usize, range: Range<usize>) -> Range<usize> {
        let layers = &self.layers[..layers];
        layers.iter().rev().fold(range, |range, segments| {
            let segment = |at: usize| {
                let after = segments.partition_point(|s| s.from <= at);
                &segments[after.saturating_sub(1)]
            };
            let first = segment(range.start);
            let start = match first.verbatim {
                true => first.source.start + (range.start - first.from),
                false => first.source.start,
            };
            let last = segment(range.end.saturating_sub(1).max(range.start));
            let end = match last.verbatim {
                true => last.source.start + (range.end - last.from),
                false => last.source.end,
            };
            start..end.max(start)
        })
    }
}

/// Whether an escape or a mapped character can begin with this byte.
fn may_begin_encoded(byte: u8) -> bool {
    (byte >= 0x80) | (byte == b'%') | (byte == b'\\') | (byte == b'&')
}

/// The length of an encoded character, and the ASCII byte it decodes to, if any.
type Decoded = Option<(usize, Option<u8>)>;

/// Decodes one layer; `None` if the text has nothing encoded. `may_begin` finds where an encoded character
/// can begin, and `decode` reads it.
fn decode_layer(
    text: &str,
    may_begin: impl Fn(u8) -> bool,
    decode: impl Fn(&str, usize) -> Decoded,
) -> Option<(String, Vec<Segment>)> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut segments: Vec<Segment> = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(offset) = byte_search::find_from(bytes, at, &may_begin) {
        at = offset;
        let Some((length, decoded)) = decode(text, at) else {
            at += char_length(bytes[at]);
            continue;
        };
        if copied == 0 {
            out.reserve(text.len());
        }
        if copied < at {
            segments.push(Segment {
                from: out.len(),
                source: copied..at,
                verbatim: true,
            });
            out.push_str(&text[copied..at]);
        }
        if let Some(byte) = decoded {
            segments.push(Segment {
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
    segments.push(Segment {
        from: out.len(),
        source: copied..text.len(),
        verbatim: true,
    });
    out.push_str(&text[copied..]);
    Some((out, segments))
}

fn char_length(first: u8) -> usize {
    match first {
        0..=0xBF => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        _ => 4,
    }
}

/// `=40`, and the `=` at the end of a line that goes on in the next.
fn quoted_printable(text: &str, at: usize) -> Decoded {
    match &text.as_bytes()[at + 1..] {
        [b'\r', b'\n', ..] => Some((3, None)),
        [b'\n', ..] => Some((2, None)),
        [first, second, ..] => Some((3, Some(printable(hex(&[*first, *second])?)?))),
        _ => None,
    }
}

/// Reads percent-encoding, the escapes of JSON and HTML, and characters that look like ASCII.
fn decode_at(text: &str, at: usize) -> Decoded {
    let bytes = text.as_bytes();
    match bytes[at] {
        b'%' => Some((3, Some(printable(hex(bytes.get(at + 1..at + 3)?)?)?))),
        b'\\' => escape(bytes, at),
        b'&' => entity(bytes, at),
        first if may_begin(first) => {
            let c = text[at..].chars().next()?;
            match mapping(c) {
                Mapping::Ascii(byte) => Some((c.len_utf8(), Some(byte))),
                Mapping::Invisible => Some((c.len_utf8(), None)),
                Mapping::Dash => {
                    let joins = is_hyphen(text, at, at + c.len_utf8());
                    let byte = if joins { b'-' } else { SEPARATOR };
                    Some((c.len_utf8(), Some(byte)))
                }
                Mapping::Bracket => {
                    let next = text[at + c.len_utf8()..].chars().next();
                    let is_number = next.is_some_and(|c| c.is_numeric() || matches!(c, '+' | '＋'));
                    let byte = if is_number { b'(' } else { SEPARATOR };
                    Some((c.len_utf8(), Some(byte)))
                }
                Mapping::Stop => {
                    let byte = if in_address(text, at) {
                        b'.'
                    } else {
                        SEPARATOR
                    };
                    Some((c.len_utf8(), Some(byte)))
                }
                Mapping::Homoglyph(byte) if within_ascii_word(text, at) => {
                    Some((c.len_utf8(), Some(byte)))
                }
                Mapping::Homoglyph(_) | Mapping::Unchanged => None,
            }
        }
        _ => None,
    }
}

fn escape(bytes: &[u8], at: usize) -> Decoded {
    match bytes.get(at + 1)? {
        b'u' => Some((6, Some(printable(hex(bytes.get(at + 2..at + 6)?)?)?))),
        b'x' => Some((4, Some(printable(hex(bytes.get(at + 2..at + 4)?)?)?))),
        b'n' | b'r' => Some((2, Some(b'\n'))),
        b't' => Some((2, Some(b'\t'))),
        quoted @ (b'"' | b'\'' | b'/' | b'\\') => Some((2, Some(*quoted))),
        _ => None,
    }
}

fn entity(bytes: &[u8], at: usize) -> Decoded {
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

/// Whether a dash is written for a hyphen: between digits, or between letters in the name of a host or
/// mailbox, which continues with a dot or an `@`.
fn is_hyphen(text: &str, at: usize, after: usize) -> bool {
    const MAX_LABEL: usize = 64;
    let bytes = text.as_bytes();
    let rest = &bytes[after..];
    let (Some(before), Some(next)) = (bytes[..at].last(), rest.first()) else {
        return false;
    };
    if before.is_ascii_digit() && next.is_ascii_digit() {
        return true;
    }
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let end = rest.iter().take(MAX_LABEL).take_while(part).count();
    let continues = match rest.get(end) {
        Some(b'@') => true,
        Some(b'.') => rest.get(end + 1).is_some_and(u8::is_ascii_alphanumeric),
        _ => false,
    };
    before.is_ascii_alphabetic() && next.is_ascii_alphabetic() && continues
}

/// Whether an `@` precedes an offset, without a gap.
fn in_address(text: &str, at: usize) -> bool {
    const MAX_HOST: usize = 64;
    let before = text[..at].chars().rev().take(MAX_HOST);
    before
        .take_while(|c| !c.is_whitespace())
        .any(|c| matches!(c, '@' | '＠' | '﹫'))
}

/// Whether the run of homoglyphs around an offset touches an ASCII letter or digit.
fn within_ascii_word(text: &str, at: usize) -> bool {
    let is_homoglyph = |c: &char| matches!(mapping(*c), Mapping::Homoglyph(_));
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '@');
    let before = text[..at].chars().rev().take(16).find(|c| !is_homoglyph(c));
    let after = text[at..].chars().take(16).find(|c| !is_homoglyph(c));
    joins(before) || joins(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_text_stays_as_it_is() {
        for text in [
            "",
            "plain",
            "100% of it",
            "C:\\dir",
            "Привет, мир",
            "naïve café",
        ] {
            assert_eq!(NormalizedText::new(text).text(), text);
        }
    }

    #[test]
    fn encoded_characters_are_decoded_and_map_back() {
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
            let normalized = NormalizedText::new(text);
            let start = normalized.text().find(plain).expect(text);
            let range = normalized.source(start..start + plain.len());
            assert_eq!(&text[range], source);
        }
    }

    #[test]
    fn quoted_printable_is_decoded_below_its_header_only() {
        let body = "jo=40exam=\nple.org =C3=A4";
        let header = "Content-Transfer-Encoding: quoted-printable\n\n";
        assert_eq!(NormalizedText::new(body).text(), body);
        let text = format!("{header}{body}");
        assert_eq!(NormalizedText::new(&text).text(), text);
        assert!(NormalizedText::from_quoted_printable(body).is_none());
        assert!(NormalizedText::from_quoted_printable(header).is_none());
        let normalized = NormalizedText::from_quoted_printable(&text).expect("encoded");
        let expected = format!("{header}jo@example.org =C3=A4");
        assert_eq!(normalized.text(), expected);
        let start = normalized.text().find("jo@").expect("the address");
        let range = normalized.source(start..start + "jo@example.org".len());
        assert_eq!(&text[range], "jo=40exam=\nple.org");
    }

    #[test]
    fn a_text_that_begins_with_invisible_characters_maps_back_too() {
        let text = "\u{200b}\u{feff}ab\u{200b}c";
        let normalized = NormalizedText::new(text);
        assert_eq!(normalized.text(), "abc");
        assert_eq!(&text[normalized.source(0..3)], "ab\u{200b}c");
        assert_eq!(&text[normalized.source(2..3)], "c");
    }
}
