//! Secret shapes in the notation of the tables: fixed text and parts such as `{36w}` or `{20-64b}`.
//!
//! | class | characters |
//! |---|---|
//! | `d` | digits |
//! | `h` | hexadecimal digits, lower case |
//! | `x` | hexadecimal digits |
//! | `l` | lower-case letters and digits |
//! | `u` | upper-case letters and digits |
//! | `w` | letters and digits |
//! | `b` | letters, digits, `_` and `-` |
//! | `e` | letters, digits, `_`, `-` and `=` |
//! | `f` | letters, digits, `_`, `-`, `=` and `.` |
//! | `z` | letters, digits, `_`, `-`, `~` and `.` |
//! | `a` | letters |
//! | `s` | letters, digits, `+`, `/` and `=` |
//! | `p` | printable characters except string delimiters |

/// A part of a secret.
#[derive(Debug)]
enum Part {
    Text(&'static [u8]),
    Repeat(Repeat),
}

/// A number of characters of a class.
#[derive(Debug)]
struct Repeat {
    class: u8,
    min: usize,
    max: usize,
}

/// The shape of a secret.
#[derive(Debug)]
pub(super) struct Shape {
    parts: Vec<Part>,
}

/// The shortest text that the prefilter searches for.
const MIN_ANCHOR: usize = 2;

/// The text of a shape that the prefilter searches for: the first fixed text that is long enough.
/// The parts before it have a fixed length.
pub(super) fn anchor(shape: &'static str) -> &'static str {
    let texts = shape.split('{').map(|part| match part.split_once('}') {
        Some((_, text)) => text,
        None => part,
    });
    let mut texts = texts.filter(|text| text.len() >= MIN_ANCHOR);
    texts.next().unwrap_or_default()
}

impl Shape {
    /// Parses the notation. The tables are part of the program: a malformed count becomes a repeat
    /// that never matches, which the test of every entry detects.
    pub(super) fn parse(shape: &'static str) -> Self {
        let mut parts = Vec::new();
        let mut rest = shape;
        while let Some((text, after)) = rest.split_once('{') {
            if !text.is_empty() {
                parts.push(Part::Text(text.as_bytes()));
            }
            let (part, next) = after.split_once('}').unwrap_or((after, ""));
            let (count, class) = part.split_at(part.len().saturating_sub(1));
            let (min, max) = count.split_once('-').unwrap_or((count, count));
            parts.push(Part::Repeat(Repeat {
                class: class.bytes().next().unwrap_or_default(),
                min: min.parse().unwrap_or(usize::MAX),
                max: max.parse().unwrap_or(usize::MAX),
            }));
            rest = next;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.as_bytes()));
        }
        Self { parts }
    }

    pub(super) fn prefix_length(&self) -> usize {
        match self.parts.first() {
            Some(Part::Text(text)) => text.len(),
            _ => 0,
        }
    }

    /// The length of the anchor: see [`anchor`].
    pub(super) fn anchor_length(&self) -> usize {
        let text = |part: &Part| match part {
            Part::Text(text) => Some(text.len()).filter(|length| *length >= MIN_ANCHOR),
            Part::Repeat(_) => None,
        };
        self.parts.iter().find_map(text).unwrap_or(0)
    }

    /// The number of bytes before the anchor.
    pub(super) fn lead(&self) -> usize {
        let mut lead = 0;
        for part in &self.parts {
            match part {
                Part::Text(text) if text.len() >= MIN_ANCHOR => break,
                Part::Text(text) => lead += text.len(),
                Part::Repeat(repeat) => lead += repeat.min,
            }
        }
        lead
    }

    /// Whether a `_` before the prefix would make it a part of a longer name.
    pub(super) fn is_word(&self) -> bool {
        match self.parts.first() {
            Some(Part::Text(text)) => text[0].is_ascii_alphanumeric(),
            _ => true,
        }
    }

    /// The end of a secret that begins at `start`. Each part matches greedily, and another
    /// character of the last part's class must not follow. A line break inside the last part does
    /// not end it while the part is incomplete: long values are wrapped.
    pub(super) fn end(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let mut at = start;
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(text) => {
                    at += text.len();
                    if bytes.get(at - text.len()..at) != Some(*text) {
                        return None;
                    }
                }
                Part::Repeat(repeat) => {
                    let is_last = index + 1 == self.parts.len();
                    at = repeat.end(bytes, at, is_last)?;
                }
            }
        }
        match self.parts.last() {
            Some(Part::Repeat(last)) if bytes.get(at).is_some_and(|b| last.joins(*b)) => None,
            _ => Some(at),
        }
    }

    #[cfg(test)]
    pub(super) fn sample(&self) -> String {
        let of = |class: u8| match class {
            b'd' => "1029384756",
            b'h' | b'x' => "0f1e2d3c4b5a6978",
            b'u' => "Q1W2E3R4T5Y6U7I8",
            b'a' => "qXwZkVjQpHzDfGbT",
            _ => "q1w2e3r4t5y6u7i8",
        };
        let part = |part: &Part| match part {
            Part::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Part::Repeat(r) => of(r.class).chars().cycle().take(r.min).collect(),
        };
        self.parts.iter().map(part).collect()
    }
}

impl Repeat {
    /// The end of the characters of the class from `at`; `None` if they are too few.
    fn end(&self, bytes: &[u8], at: usize, is_last: bool) -> Option<usize> {
        let mut count = 0;
        let mut end = at;
        let mut wrapped = false;
        while count < self.max {
            match bytes.get(end) {
                Some(byte) if self.matches(*byte) => {
                    count += 1;
                    end += 1;
                }
                Some(b'\n') if is_last && !wrapped && count >= 4 && count < self.min => {
                    wrapped = true;
                    end += 1;
                    end += bytes[end..]
                        .iter()
                        .take_while(|b| matches!(b, b' ' | b'\t' | b'>' | b'|'))
                        .count();
                }
                _ => break,
            }
        }
        (count >= self.min).then_some(end)
    }

    fn matches(&self, byte: u8) -> bool {
        match self.class {
            b'd' => byte.is_ascii_digit(),
            b'h' => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            b'x' => byte.is_ascii_hexdigit(),
            b'l' => byte.is_ascii_digit() || byte.is_ascii_lowercase(),
            b'u' => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            b'w' => byte.is_ascii_alphanumeric(),
            b'b' => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            b'e' => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'='),
            b'f' => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'=' | b'.'),
            b'z' => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'~' | b'.'),
            b'a' => byte.is_ascii_alphabetic(),
            b's' => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            _ => {
                byte.is_ascii_graphic()
                    && !matches!(
                        byte,
                        b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b',' | b';'
                    )
            }
        }
    }

    /// Whether this byte right after the secret makes it a part of something longer.
    fn joins(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || (self.matches(byte) && !matches!(byte, b'=' | b'.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_parsed_from_its_notation() {
        let shape = Shape::parse("SG.{3w}.{2-4d}");
        let end = |text: &str| shape.end(text.as_bytes(), 0);
        assert_eq!(end("SG.abc.12"), Some(9));
        assert_eq!(end("SG.abc.1234 x"), Some(11));
        for wrong in [
            "SG.ab.12",
            "SG.abc.1",
            "SG.abc.12345",
            "sg.abc.12",
            "SG.abc.12x",
        ] {
            assert_eq!(end(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_shape_may_have_a_fixed_number_of_characters_before_its_anchor() {
        assert_eq!(anchor("{6w}_{2w}_mmk"), "_mmk");
        assert_eq!(Shape::parse("{6w}_{2w}_mmk").lead(), 9);
        assert_eq!(anchor("SG.{3w}"), "SG.");
        assert_eq!(Shape::parse("SG.{3w}").lead(), 0);
    }

    #[test]
    fn a_wrapped_value_continues_after_the_line_break() {
        let shape = Shape::parse("ghp_{12w}");
        assert_eq!(shape.end(b"ghp_abc123\n  def456 x", 0), Some(19));
        assert_eq!(shape.end(b"ghp_ab\ncdef", 0), None);
    }
}
