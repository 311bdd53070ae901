//! Random tokens without a label: likely keys, unless they are something that only looks random.

use std::ops::Range;

use super::randomness::{Makeup, is_hex, is_sequence, is_uuid};
use super::{Default, Detector, Trigger};
use crate::Kind;
use crate::scan::Scan;

const SECRET: Kind = Kind::new("SECRET");

pub(super) static DETECTOR: Detector = Detector {
    name: "entropy",
    kinds: || vec![SECRET],
    default: Default::OneWay,
    triggers: &[Trigger::Blob(check)],
};

const MIN_LENGTH: usize = 32;
/// Longer tokens are files: images, fonts, compiled code.
const MAX_LENGTH: usize = 128;

/// Words before a token that say it is public.
#[rustfmt::skip]
const PUBLIC_WORDS: &[&str] = &[
    "sha1", "sha256", "sha384", "sha512", "integrity", "checksum", "digest", "hash", "etag", "commit",
    "base64", "public", "fingerprint", "nonce", "signature", "uuid", "revision", "csrf", "ssh-rsa",
    "ssh-ed25519", "certificate", "pubkey", "publickey", "cursor", "page token", "next token", "sync token",
    "continuation", "md5", "blake2", "blake3",
];

fn check(scan: &mut Scan<'_>, place: Range<usize>) {
    let token = &scan.bytes[place.clone()];
    let body = token
        .strip_suffix(b"==")
        .or(token.strip_suffix(b"="))
        .unwrap_or(token);
    if !(MIN_LENGTH..=MAX_LENGTH).contains(&body.len()) || !stands_alone(scan, &place) {
        return;
    }
    if is_uuid(body) || is_hex(body) || is_digest(body) || is_sequence(body) || is_path(body) {
        return;
    }
    let makeup = Makeup::of(body);
    let (lower, upper, digits) = (makeup.lower, makeup.upper, makeup.digits);
    // In random letters and digits one in six is a digit; in names it is rare.
    let mixed = lower >= 4 && upper >= 4 && digits >= 3 && digits * 12 >= body.len();
    let random = makeup.entropy >= 4.2 && makeup.changes >= 0.4 && makeup.longest_word <= 6;
    let joints = makeup.other * 8 <= body.len();
    if mixed && random && joints && !scan.near(place.start, place.end, PUBLIC_WORDS) {
        scan.found(SECRET, place.start, place.end, 0.6);
    }
}

/// Bounded by quotes, spaces or signs of a file of settings; code and longer data are not.
fn stands_alone(scan: &Scan<'_>, place: &Range<usize>) -> bool {
    let edge = |b: u8| {
        matches!(
            b,
            0 | b'"'
                | b'\''
                | b'`'
                | b' '
                | b'\t'
                | b'\n'
                | b'\r'
                | b'='
                | b':'
                | b','
                | b';'
                | b')'
                | b'('
                | b'<'
                | b'>'
                | b'&'
        )
    };
    edge(scan.before(place.start))
        && (edge(scan.at(place.end))
            || scan.at(place.end) == b'.' && !scan.at(place.end + 1).is_ascii_alphanumeric())
}

/// `sha512-…`, as packages and scripts name what they load.
fn is_digest(body: &[u8]) -> bool {
    [&b"sha1-"[..], b"sha256-", b"sha384-", b"sha512-"]
        .iter()
        .any(|name| body.starts_with(name))
}

/// Paths have slashes between words.
fn is_path(body: &[u8]) -> bool {
    let slashes = body.iter().filter(|b| **b == b'/').count();
    body[0] == b'/' || slashes >= 3 || body.iter().filter(|b| matches!(b, b'-' | b'_')).count() >= 5
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn random_tokens_are_found_and_what_only_looks_random_is_not() {
        let token = "q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4";
        cases::check(
            "SECRET",
            &[
                (token, token),
                (&format!("\"value\": \"{token}\""), token),
                (&format!("use {token}."), token),
            ],
            &[
                "123e4567-e89b-12d3-a456-426614174000",
                "da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "sha512-q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4==",
                "integrity: q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4",
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
                "getElementsByClassNameAndAttributeValue2024WithFallback",
                "src/components/Header2/index3/Button4Test/file5",
            ],
        );
    }
}
