//! The forms in which a value can appear in text.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// A shorter piece of base64 appears by chance in long data.
const MIN_BASE64: usize = 10;
/// Characters that a path or a query may hold as they are.
const PATH_CHARACTERS: &[u8] = b"!$&'()*+,;=:@/";

/// The value itself, and as JSON, a URL, base64 and hexadecimal write it. Each form once.
pub fn forms(value: &str) -> Vec<String> {
    let json = json_escaped(value);
    let slashes = json.replace('/', "\\/");
    let mut forms = vec![value.to_owned(), json, slashes];
    for kept in [&b""[..], PATH_CHARACTERS] {
        for upper in [true, false] {
            let encoded = percent_encoded(value, kept, upper);
            forms.push(encoded.replace("%20", "+"));
            forms.push(encoded);
        }
    }
    for alphabet in [STANDARD, URL_SAFE] {
        let pieces = (0..3).map(|offset| base64(value.as_bytes(), offset, alphabet));
        forms.extend(pieces.filter(|piece| piece.len() >= MIN_BASE64));
    }
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    forms.push(hex.to_uppercase());
    forms.push(hex);
    let mut seen = std::collections::HashSet::new();
    forms.retain(|form| seen.insert(form.clone()));
    forms
}

fn json_escaped(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn percent_encoded(value: &str, kept: &[u8], upper: bool) -> String {
    let mut encoded = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.contains(&byte) {
            encoded.push(byte.into());
        } else if upper {
            encoded.push_str(&format!("%{byte:02X}"));
        } else {
            encoded.push_str(&format!("%{byte:02x}"));
        }
    }
    encoded
}

/// The base64 of `bytes` behind `offset` other bytes, without the characters that depend on the bytes
/// around it.
fn base64(bytes: &[u8], offset: usize, alphabet: &[u8; 64]) -> String {
    let mut encoded = String::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in std::iter::repeat_n(&0, offset).chain(bytes) {
        bits = (bits << 8) | u32::from(*byte);
        count += 8;
        while count >= 6 {
            count -= 6;
            encoded.push(alphabet[(bits >> count) as usize & 63].into());
        }
        bits &= (1 << count) - 1;
    }
    encoded[[0, 2, 3][offset].min(encoded.len())..].to_owned()
}

#[cfg(test)]
mod tests {
    use ::base64::Engine;
    use ::base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};

    use super::*;

    #[test]
    fn every_position_in_base64_is_found() {
        let secret = "p@ss:w0rd/99~ü";
        let forms = forms(secret);
        for before in ["", "a", "ab", "user:", "{\"token\":\""] {
            let text = format!("{before}{secret} and more");
            for encoded in [
                BASE64_STANDARD.encode(&text),
                BASE64_URL_SAFE_NO_PAD.encode(&text),
            ] {
                assert!(forms.iter().any(|form| encoded.contains(form)), "{encoded}");
            }
        }
    }

    #[test]
    fn urls_and_json_are_found() {
        let forms = forms("p@ss \"w\"/9");
        for text in [
            "p%40ss%20%22w%22%2F9",
            "p%40ss%20%22w%22%2f9",
            "p%40ss+%22w%22%2F9",
            "p@ss%20%22w%22/9",
            "p@ss \\\"w\\\"/9",
            "p@ss \\\"w\\\"\\/9",
            "7040737320227722",
        ] {
            assert!(
                forms.iter().any(|form| form.contains(text)),
                "{text} {forms:?}"
            );
        }
    }
}
