//! Random tokens without a label: likely keys, unless they are a digest, an id or another public
//! value.

use std::ops::Range;

use super::randomness::{TokenStats, is_hex, is_sequence, is_uuid};
use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::scan::Scan;

const SECRET: Kind = Kind::new("SECRET");

pub(super) static DETECTOR: Detector = Detector {
    name: "entropy",
    kinds: || vec![SECRET],
    default_policy: DefaultPolicy::OneWay,
    repeats: Repeats::FoundByDetector,
    triggers: &[Trigger::Token(check)],
};

const MIN_LENGTH: usize = 32;
/// Longer tokens are files: images, fonts, compiled code.
const MAX_LENGTH: usize = 128;

/// Context words of public tokens.
#[rustfmt::skip]
const PUBLIC_WORDS: &[&str] = &[
    "sha1", "sha256", "sha384", "sha512", "integrity", "checksum", "digest", "hash", "etag", "commit",
    "base64", "public", "fingerprint", "nonce", "signature", "uuid", "revision", "csrf", "ssh-rsa",
    "ssh-ed25519", "certificate", "pubkey", "publickey", "cursor", "page token", "next token", "sync token",
    "continuation", "md5", "blake2", "blake3",
];

fn check(scan: &mut Scan<'_>, range: Range<usize>) {
    let token = &scan.bytes[range.clone()];
    let body = token
        .strip_suffix(b"==")
        .or(token.strip_suffix(b"="))
        .unwrap_or(token);
    if !(MIN_LENGTH..=MAX_LENGTH).contains(&body.len()) || !stands_alone(scan, &range) {
        return;
    }
    if is_uuid(body) || is_hex(body) || is_digest(body) || is_sequence(body) || is_path(body) {
        return;
    }
    let stats = TokenStats::of(body);
    let (lower, upper, digits) = (stats.lower, stats.upper, stats.digits);
    // One in six random letters and digits is a digit; in identifiers digits are rare.
    let mixed = lower >= 4 && upper >= 4 && digits >= 3 && digits * 12 >= body.len();
    let random = stats.entropy >= 4.2 && stats.class_changes >= 0.4 && stats.longest_word <= 6;
    let few_separators = stats.other * 8 <= body.len();
    if mixed
        && random
        && few_separators
        && !scan.has_word_near(range.start, range.end, PUBLIC_WORDS)
        && !scan.in_public_block(range.start)
    {
        scan.add(SECRET, range.start, range.end, 0.6);
    }
}

/// Whether quotes, spaces or the separators of a configuration file surround the token; in code and
/// longer data other characters do.
fn stands_alone(scan: &Scan<'_>, range: &Range<usize>) -> bool {
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
                | b'!'
                | b'?'
                | b'~'
                | b'['
                | b']'
        ) || !b.is_ascii()
    };
    edge(scan.before(range.start))
        && (edge(scan.at(range.end))
            || scan.at(range.end) == b'.' && !scan.at(range.end + 1).is_ascii_alphanumeric())
}

/// A subresource integrity digest: `sha512-…`.
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
    fn random_tokens_are_found_and_public_values_are_not() {
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
