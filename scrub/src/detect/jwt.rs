//! JSON Web Tokens (RFC 7519), also encrypted (RFC 7516).

use std::ops::Range;

use super::sample_value::is_sample_key;
use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::scan::Scan;
use crate::{Kind, decode};

const JWT: Kind = Kind::new("JWT");

pub(super) static DETECTOR: Detector = Detector {
    name: "jwt",
    kinds: || vec![JWT],
    default_policy: DefaultPolicy::OneWay,
    repeats: Repeats::FoundByDetector,
    // Every header is a JSON object, and `{"` is `eyJ` in base64.
    triggers: &[Trigger::Literals(|| &["eyJ"], check)],
};

fn check(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if &scan.bytes[hit.clone()] != b"eyJ" || part(scan.before(hit.start)) {
        return;
    }
    let mut end = scan.run(hit.start, part);
    let header = end - hit.start;
    let mut parts = 1;
    while parts < 5 && scan.at(end) == b'.' {
        let next = scan.run(end + 1, part);
        // The signature of an unsigned token is empty, as are some parts of an encrypted one.
        if next == end + 1 && parts < 2 {
            break;
        }
        parts += 1;
        end = next;
    }
    // Three parts are a token even if the header is cut, damaged or without an algorithm.
    let is_token = || parts >= 3 || is_header(&scan.text[hit.start..hit.start + header]);
    if header >= 12 && parts >= 2 && end - hit.start >= 30 && is_token() {
        let signature = &scan.bytes[scan.run_back(end, part)..end];
        if !signature.is_empty() && is_sample_key(signature) {
            return;
        }
        let end = if scan.before(end) == b'.' && parts < 3 {
            end - 1
        } else {
            end
        };
        scan.add(JWT, hit.start, end, 0.97);
    }
}

/// Whether the first part is a header: a JSON object that names the algorithm.
fn is_header(part: &str) -> bool {
    type Object = serde_json::Map<String, serde_json::Value>;
    let text = decode::decode_url_safe(part);
    let object = text.and_then(|text| serde_json::from_str::<Object>(&text).ok());
    object.is_some_and(|object| object.contains_key("alg"))
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn tokens_with_a_json_header_are_found() {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ.c2lnbmF0dXJlLW9mLW5vdGhpbmc";
        let damaged = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ.eyJzdWIiOiJub2JvZHkifQ.c2lnbmF0dXJlLW9mLW5vdGhpbmc";
        let unnamed = "eyJraWQiOiJhMSJ9.eyJzdWIiOiJub2JvZHkifQ.c2lnbmF0dXJlLW9mLW5vdGhpbmc";
        let unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJub2JvZHkifQ.";
        cases::check(
            "JWT",
            &[
                (token, token),
                (&format!("Authorization: Bearer {token}, next"), token),
                (unsigned, unsigned),
                (damaged, damaged),
                (unnamed, unnamed),
            ],
            &[
                "eyJ",
                "eyJhbGciOiJIUzI1NiJ9",
                "keyJar.value.other",
                "eyJump.eyJab.x",
                "eyJub3RoaW5nIjoxfQ.eyJzdWIiOiJub2JvZHkifQ",
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ.EXAMPLE-FAKESIG",
            ],
        );
    }
}
