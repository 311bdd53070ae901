//! The notation of the tables: a prefix and parts such as `{36w}` or `{20-64b}`.
//!
//! | class | characters |
//! |---|---|
//! | `d` | digits |
//! | `h` | hexadecimal digits, small |
//! | `x` | hexadecimal digits |
//! | `l` | small letters and digits |
//! | `u` | capital letters and digits |
//! | `w` | letters and digits |
//! | `b` | letters, digits, `_` and `-` |
//! | `s` | letters, digits, `+`, `/` and `=` |
//! | `p` | anything printable that ends no string |

/// A part of a secret: fixed text, or so many characters of a class.
#[derive(Debug)]
enum Part {
    Text(&'static [u8]),
    Some {
        class: u8,
        fewest: usize,
        most: usize,
    },
}

#[derive(Debug)]
pub(super) struct Shape {
    parts: Vec<Part>,
}

/// The fixed text that a shape begins with.
pub(super) fn prefix(shape: &'static str) -> &'static str {
    shape.split('{').next().unwrap_or_default()
}

impl Shape {
    /// The tables are part of the program, so a shape that cannot be read is a part that no text
    /// has; the test of every entry would find it.
    pub(super) fn parse(shape: &'static str) -> Self {
        let mut parts = Vec::new();
        let mut rest = shape;
        while let Some((text, after)) = rest.split_once('{') {
            if !text.is_empty() {
                parts.push(Part::Text(text.as_bytes()));
            }
            let (part, next) = after.split_once('}').unwrap_or((after, ""));
            let (count, class) = part.split_at(part.len().saturating_sub(1));
            let (fewest, most) = count.split_once('-').unwrap_or((count, count));
            parts.push(Part::Some {
                class: class.bytes().next().unwrap_or_default(),
                fewest: fewest.parse().unwrap_or(usize::MAX),
                most: most.parse().unwrap_or(usize::MAX),
            });
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

    /// Whether a `_` before the prefix would make it a part of a longer name.
    pub(super) fn is_word(&self) -> bool {
        matches!(self.parts.first(), Some(Part::Text(text)) if text[0].is_ascii_alphanumeric())
    }

    /// The end of a secret that begins at `start`. Each part takes as many characters as it can,
    /// and one more of the last part's class must not follow. A line break inside the last part
    /// does not end it, as long as the part is not complete: long values are wrapped.
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
                Part::Some {
                    class,
                    fewest,
                    most,
                } => {
                    let is_last = index + 1 == self.parts.len();
                    at = take(bytes, at, *class, *fewest, *most, is_last)?;
                }
            }
        }
        match self.parts.last() {
            Some(Part::Some { class, .. }) if bytes.get(at).is_some_and(|b| joins(*class, *b)) => {
                None
            }
            _ => Some(at),
        }
    }

    #[cfg(test)]
    pub(super) fn sample(&self) -> String {
        let of = |class: u8| match class {
            b'd' => "1029384756",
            b'h' | b'x' => "0f1e2d3c4b5a6978",
            b'u' => "Q1W2E3R4T5Y6U7I8",
            _ => "q1w2e3r4t5y6u7i8",
        };
        let part = |part: &Part| match part {
            Part::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Part::Some { class, fewest, .. } => of(*class).chars().cycle().take(*fewest).collect(),
        };
        self.parts.iter().map(part).collect()
    }
}

/// The end of the characters of a class from `at`; `None` if they are too few.
fn take(
    bytes: &[u8],
    at: usize,
    class: u8,
    fewest: usize,
    most: usize,
    is_last: bool,
) -> Option<usize> {
    let mut count = 0;
    let mut end = at;
    let mut wrapped = false;
    while count < most {
        match bytes.get(end) {
            Some(byte) if holds(class, *byte) => {
                count += 1;
                end += 1;
            }
            Some(b'\n') if is_last && !wrapped && count >= 4 && count < fewest => {
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
    (count >= fewest).then_some(end)
}

fn holds(class: u8, byte: u8) -> bool {
    match class {
        b'd' => byte.is_ascii_digit(),
        b'h' => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        b'x' => byte.is_ascii_hexdigit(),
        b'l' => byte.is_ascii_digit() || byte.is_ascii_lowercase(),
        b'u' => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'b' => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
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

/// Whether a character right after the secret would make it a part of something longer.
fn joins(class: u8, byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || (holds(class, byte) && byte != b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_read_from_its_notation() {
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
    fn a_wrapped_value_is_read_over_the_line_break() {
        let shape = Shape::parse("ghp_{12w}");
        assert_eq!(shape.end(b"ghp_abc123\n  def456 x", 0), Some(19));
        assert_eq!(shape.end(b"ghp_ab\ncdef", 0), None);
    }
}
