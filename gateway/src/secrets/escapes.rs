//! Texts in which any character may be escaped: as `%2D` in a URL, as `\u002d` in JSON.

use std::ops::Range;

/// A text without its escapes, and the way back to the text.
pub struct Unescaped {
    bytes: Vec<u8>,
    /// Where an escaped byte is, and by how much the text is longer up to it and with it.
    escapes: Vec<(usize, usize)>,
}

impl Unescaped {
    /// `None` for a text without escapes.
    pub fn new(text: &str) -> Option<Self> {
        let mut rest = text.as_bytes();
        let first = rest
            .iter()
            .enumerate()
            .find(|(at, byte)| matches!(byte, b'%' | b'\\') && escaped(&rest[*at..]).is_some());
        let (before, escaped_rest) = rest.split_at(first?.0);
        let (mut bytes, mut escapes) = (before.to_vec(), Vec::new());
        rest = escaped_rest;
        let mut longer = 0;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'%' | b'\\')) {
            let (before, escape) = rest.split_at(at);
            bytes.extend_from_slice(before);
            let (byte, length) = match escaped(escape) {
                Some((byte, length)) => {
                    longer += length - 1;
                    escapes.push((bytes.len(), longer));
                    (byte, length)
                }
                None => (escape[0], 1),
            };
            bytes.push(byte);
            rest = &escape[length..];
        }
        bytes.extend_from_slice(rest);
        Some(Self { bytes, escapes })
    }

    /// The bytes that the text stands for.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The range of the text that stands for these bytes; `None` if nothing in it is escaped.
    pub fn range_in_text(&self, range: Range<usize>) -> Option<Range<usize>> {
        let before = |at: usize| self.escapes.partition_point(|(escaped, _)| *escaped < at);
        let longer = |count: usize| count.checked_sub(1).map_or(0, |last| self.escapes[last].1);
        let (first, last) = (before(range.start), before(range.end));
        (first < last).then(|| range.start + longer(first)..range.end + longer(last))
    }
}

/// The byte that an escape at the beginning stands for, and the length of the escape.
fn escaped(text: &[u8]) -> Option<(u8, usize)> {
    let hex = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).ok()?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u8::from_str_radix(digits, 16).ok())?
    };
    match text {
        [b'%', high, low, ..] => Some((hex(&[*high, *low])?, 3)),
        // Other characters of JSON are found as they are.
        [b'\\', b'u', b'0', b'0', high, low, ..] => {
            let byte = hex(&[*high, *low])?;
            byte.is_ascii().then_some((byte, 6))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_bytes_is_found_again_in_the_text() {
        let text = r"a%2Db\u002dc %zz %2 \u00e9 d%2D";
        let unescaped = Unescaped::new(text).unwrap();
        let bytes = String::from_utf8(unescaped.bytes().to_vec()).unwrap();
        assert_eq!(bytes, r"a-b-c %zz %2 \u00e9 d-");
        for (part, written) in [
            ("a-b-c", Some(r"a%2Db\u002dc")),
            ("b-c", Some(r"b\u002dc")),
            ("d-", Some("d%2D")),
            ("%zz", None),
        ] {
            let start = bytes.find(part).unwrap();
            let range = unescaped.range_in_text(start..start + part.len());
            assert_eq!(range.map(|range| &text[range]), written, "{part}");
        }
        assert!(Unescaped::new(r"100 % of a\b").is_none());
    }
}
