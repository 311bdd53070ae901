//! Answers that are nearly JSON. A server that cuts a string in the middle of a character, or that
//! writes in an old encoding, has said everything but that character.

/// Half of a pair that stands for one character.
const HIGH: std::ops::RangeInclusive<u16> = 0xD800..=0xDBFF;
const LOW: std::ops::RangeInclusive<u16> = 0xDC00..=0xDFFF;
/// As long as what it replaces.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// The text with everything replaced that stands for no character; `None` if there was nothing.
pub fn repair(line: &[u8]) -> Option<Vec<u8>> {
    let mut text = String::from_utf8_lossy(line).into_owned().into_bytes();
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'\\' {
            at += 1;
            continue;
        }
        let length = REPLACEMENT.len();
        match escaped(&text[at..]) {
            Some(unit) if HIGH.contains(&unit) => {
                let next = text.get(at + length..).and_then(escaped);
                if next.is_some_and(|unit| LOW.contains(&unit)) {
                    at += length;
                } else {
                    text[at..at + length].copy_from_slice(REPLACEMENT);
                }
                at += length;
            }
            Some(unit) => {
                if LOW.contains(&unit) {
                    text[at..at + length].copy_from_slice(REPLACEMENT);
                }
                at += length;
            }
            // A backslash and what it stands before.
            None => at += 2,
        }
    }
    (text != line).then_some(text)
}

/// The number in `\uXXXX` at the beginning.
fn escaped(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    // `from_str_radix` would take a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(line: &[u8]) -> Value {
        serde_json::from_slice(&repair(line).unwrap()).unwrap()
    }

    #[test]
    fn half_a_character_becomes_a_mark() {
        assert_eq!(read(br#"["a\ud83d"]"#), json!(["a\u{fffd}"]));
        assert_eq!(read(br#"["\udc00b"]"#), json!(["\u{fffd}b"]));
        assert_eq!(
            read(br#"["\ud83d\ud83d\ude00\n"]"#),
            json!(["\u{fffd}\u{1f600}\n"])
        );
        assert_eq!(read(b"[\"caf\xe9\"]"), json!(["caf\u{fffd}"]));
    }

    #[test]
    fn what_is_whole_stays() {
        for whole in [
            br#"{"a":"\ud83d\ude00 \\ud83d \u00e9"}"#.as_slice(),
            br#"{"a":"\\\\u"}"#,
            b"no JSON \\",
            b"\\u12",
            "[\"é\"]".as_bytes(),
        ] {
            assert_eq!(repair(whole), None, "{}", String::from_utf8_lossy(whole));
        }
    }
}
