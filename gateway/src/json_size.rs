//! Estimates how much memory JSON takes once it is parsed, from its text.
//!
//! A `Value` takes the same memory for `0` as for a short string, and an object many times that of its
//! text: 16 MiB of `[{},{},…]` become more than 700 MB. So messages are measured before they are parsed.

/// Bytes of one value.
const VALUE: usize = 80;
/// Bytes of an object, besides its value.
const OBJECT: usize = 120;
/// Bytes of a key with its entry, besides the entry's value.
const KEY: usize = 150;
/// An upper bound of the bytes that one byte of text can become: `{` is the most expensive one.
const MAX_PER_BYTE: usize = VALUE + OBJECT;

/// Estimates the bytes that `text` takes as parsed values. The text need not be valid JSON.
pub fn parsed_bytes(text: &[u8]) -> usize {
    let (mut values, mut objects, mut keys) = (1_usize, 0_usize, 0_usize);
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b',' | b'[' => values += 1,
            b'{' => {
                values += 1;
                objects += 1;
            }
            b':' => keys += 1,
            b'"' => rest = after_string(after),
            _ => {}
        }
    }
    text.len() + values * VALUE + objects * OBJECT + keys * KEY
}

/// Whether `text` takes more than `limit` bytes as parsed values. Short texts, which cannot, are not
/// read.
pub fn exceeds(text: &[u8], limit: usize) -> bool {
    text.len() > limit / (MAX_PER_BYTE + 1) && parsed_bytes(text) > limit
}

/// The text behind the string whose opening quote precedes `text`.
fn after_string(text: &[u8]) -> &[u8] {
    let mut at = 0;
    while let Some(found) = text[at..]
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\'))
    {
        at += found;
        if text[at] == b'"' {
            return &text[at + 1..];
        }
        at = (at + 2).min(text.len());
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_values_are_measured_as_memory_and_not_as_text() {
        let zeros = format!("[{}0]", "0,".repeat(100_000));
        assert!(parsed_bytes(zeros.as_bytes()) > 8_000_000);
        let objects = format!("[{}0]", "{},".repeat(100_000));
        assert!(parsed_bytes(objects.as_bytes()) > 20_000_000);
    }

    #[test]
    fn text_inside_of_strings_costs_its_length() {
        for text in [
            format!("\"{}\"", ",".repeat(10_000)),
            format!("\"{}\"", "\\\"{".repeat(3_000)),
            format!("\"{}", "[".repeat(10_000)),
            "\"\\".to_owned(),
        ] {
            assert!(
                parsed_bytes(text.as_bytes()) <= text.len() + VALUE,
                "{text}"
            );
        }
    }

    #[test]
    fn a_short_text_never_exceeds_a_large_limit() {
        let worst = "{".repeat(1_000);
        assert!(!exceeds(worst.as_bytes(), 1_000 * (MAX_PER_BYTE + 1)));
        assert!(exceeds(worst.as_bytes(), 1_000));
    }
}
