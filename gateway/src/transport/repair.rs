//! Repair of JSON with invalid characters: a server cut a string within a surrogate pair, or does not
//! write UTF-8.

/// Surrogates: a pair of them encodes one character.
const HIGH: std::ops::RangeInclusive<u16> = 0xD800..=0xDBFF;
const LOW: std::ops::RangeInclusive<u16> = 0xDC00..=0xDFFF;
/// As long as the escape that it replaces.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// The text with invalid characters replaced by U+FFFD; `None` if there are none.
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
            // Another escape.
            None => at += 2,
        }
    }
    (text != line).then_some(text)
}

/// The code unit of a `\uXXXX` at the beginning.
fn escaped(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    // `from_str_radix` accepts a sign.
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
    fn half_a_character_becomes_a_replacement_character() {
        assert_eq!(read(br#"["a\ud83d"]"#), json!(["a\u{fffd}"]));
        assert_eq!(read(br#"["\udc00b"]"#), json!(["\u{fffd}b"]));
        assert_eq!(
            read(br#"["\ud83d\ud83d\ude00\n"]"#),
            json!(["\u{fffd}\u{1f600}\n"])
        );
        assert_eq!(read(b"[\"caf\xe9\"]"), json!(["caf\u{fffd}"]));
    }

    #[test]
    fn valid_text_is_not_changed() {
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
