//! Random tokens without a label: likely keys, unless they are a digest, an id or another public
//! value.

use std::ops::Range;

use super::randomness::{TokenStats, is_hex, is_sequence, is_uuid};
use super::sample_value::is_sample_key;
use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::scan::Scan;
use crate::{Kind, decode};

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
    "continuation", "md5", "blake2", "blake3", "authenticity token", "xsrf", "csrf",
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
        && !stats.has_words()
        && !scan.has_word_near(range.start, range.end, PUBLIC_WORDS)
        && !scan.in_public_block(range.start)
        && !is_public(body)
        && !is_sample_key(body)
        && !decode::is_encoded_text(token)
        && !is_wrapped(scan, &range)
    {
        scan.add(SECRET, range.start, range.end, 0.6);
    }
}

/// Whether a token begins as public data does: public keys in DER and of OpenSSH, images and compressed
/// files in base64, and Stripe's publishable keys.
fn is_public(body: &[u8]) -> bool {
    const BEGINNINGS: [&str; 17] = [
        "MFkwEwYHKoZIzj0",
        "MFIwEAYHKoZI",
        "MGgwDgYDVQ",
        "MIGfMA0GCSq",
        "MIIBIjANBgkq",
        "MIICIjANBgkq",
        "MCowBQYDK2V",
        "AAAAB3NzaC1",
        "AAAAC3NzaC1",
        "AAAAE2VjZHNh",
        "H4sI",
        "iVBORw0",
        "R0lGOD",
        "UklGR",
        "pk_live_",
        "pk_test_",
        "d09GM",
    ];
    BEGINNINGS.iter().any(|b| body.starts_with(b.as_bytes()))
}

/// The lengths of the lines of wrapped base64, as PEM (RFC 7468) and MIME (RFC 2045) have it.
const WRAPPED: [usize; 2] = [64, 76];
/// Fewer lines of one length can be a column of keys.
const MIN_LINES: usize = 4;

/// Whether a token is a line of wrapped base64, or the shorter last one: a file.
fn is_wrapped(scan: &Scan<'_>, range: &Range<usize>) -> bool {
    let length = range.end - range.start;
    let line_end = scan.run_at_most(range.end, MAX_MARGIN, |b| b != b'\n');
    let line_start = scan.run_back(range.start, |b| b != b'\n');
    if !is_margin(&scan.bytes[range.end..line_end])
        || !is_margin(&scan.bytes[line_start..range.start])
    {
        return false;
    }
    let before = std::iter::successors(previous_line(scan, line_start), |line| {
        previous_line(scan, line.start)
    });
    let after = std::iter::successors(next_line(scan, line_end), |line| next_line(scan, line.end));
    let width = |line: Range<usize>| token_of_line(&scan.bytes[line]);
    let full = match WRAPPED.contains(&length) {
        true => Some(length),
        false => previous_line(scan, line_start)
            .map(width)
            .filter(|w| *w > length),
    };
    let Some(full) = full.filter(|w| WRAPPED.contains(w)) else {
        return false;
    };
    let full_lines = |widths: &mut dyn Iterator<Item = usize>| {
        widths.take(MIN_LINES).take_while(|w| *w == full).count()
    };
    let above = full_lines(&mut before.map(width));
    let below = full_lines(&mut after.map(width));
    let own = usize::from(length == full);
    let in_alphabet = |b: &u8| !matches!(b, b'-' | b'_');
    scan.bytes[range.clone()].iter().all(in_alphabet) && above + own + own * below >= MIN_LINES
}

/// The lines between two lines of a token may have quotes and brackets alone: a decoded `\n` ends a line.
const MAX_EMPTY_LINES: usize = 2;

/// The first line after a line's end that has more than quotes.
fn next_line(scan: &Scan<'_>, mut end: usize) -> Option<Range<usize>> {
    for _ in 0..=MAX_EMPTY_LINES {
        let start = (scan.at(end) == b'\n').then_some(end + 1)?;
        end = scan.run_at_most(start, MAX_LINE, |b| b != b'\n');
        if !is_margin(&scan.bytes[start..end]) {
            return Some(start..end);
        }
    }
    None
}

/// The last line before a line's start that has more than quotes.
fn previous_line(scan: &Scan<'_>, mut start: usize) -> Option<Range<usize>> {
    for _ in 0..=MAX_EMPTY_LINES {
        let end = start.checked_sub(1)?;
        start = scan.run_back(end, |b| b != b'\n');
        if !is_margin(&scan.bytes[start..end]) {
            return Some(start..end);
        }
    }
    None
}

/// What surrounds a token on a line of source code is shorter.
const MAX_MARGIN: usize = 64;
/// A longer line is no line of wrapped base64.
const MAX_LINE: usize = 256;

/// Whether only indentation, quotes and an operator surround a token.
fn is_margin(bytes: &[u8]) -> bool {
    bytes.len() < MAX_MARGIN
        && bytes.iter().all(|b| {
            matches!(
                b,
                b' ' | b'\t'
                    | b'\r'
                    | b'"'
                    | b'\''
                    | b'\\'
                    | b'n'
                    | b'b'
                    | b'+'
                    | b','
                    | b';'
                    | b')'
                    | b'|'
                    | b'>'
            )
        })
}

/// The length of the base64 token that is all that a line has; 0 if it has something else.
fn token_of_line(line: &[u8]) -> usize {
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let is_end = |b: &u8| {
        matches!(
            b,
            b' ' | b'\t' | b'\r' | b'"' | b'\'' | b'\\' | b'+' | b',' | b';' | b')' | b'|' | b'>'
        )
    };
    let from = line.iter().position(|b| !is_end(b)).unwrap_or(line.len());
    // `b"…"` in Python.
    let from = from
        + if line[from..].starts_with(b"b\"") || line[from..].starts_with(b"b'") {
            2
        } else {
            0
        };
    let length = line[from..].iter().take_while(|b| part(b)).count();
    match is_margin(&line[from + length..]) {
        true => length,
        false => 0,
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
        // 64 characters, and 56.
        let line = "q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9T";
        let key = &line[..56];
        cases::check(
            "SECRET",
            &[
                (token, token),
                (&format!("\"value\": \"{token}\""), token),
                (&format!("use {token}."), token),
                (&format!("verification {token}"), token),
                (&format!("{key}\nname of the next\n"), key),
                (&format!("{key}\n{}\n", "abcd".repeat(14)), key),
                (
                    &format!("{line}\n{}", format!("{}\n", "abcd".repeat(16)).repeat(2)),
                    line,
                ),
                (
                    &format!(
                        "-----BEGIN CERTIFICATE-----\nMIIB\n{} {token} now",
                        "and then text that is of another kind goes on and on,".repeat(2)
                    ),
                    token,
                ),
            ],
            &[
                "123e4567-e89b-12d3-a456-426614174000",
                "da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "sha512-q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4==",
                "integrity: q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4",
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
                "key: \"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1Olb3zMAFFxXKHiIkQO5cJ3Yhl5i6UPp\"",
                "aHR0cHM6Ly9zaG9wLmV4YW1wbGUvb3JkZXJzP3BhZ2U9MTcmc29ydD1kYXRl",
                &format!(
                    "{}w6UJaGie0qbdZvffrfqyhOVj8rMiQWnv9a8qm3gxfngd\n",
                    format!("{line}\n").repeat(4)
                ),
                &format!(
                    "(\n{}    b'w6UJaGie0qbdZvffrfqyhOVj8rMiQWnv9a8qm3gxfngd\\n')",
                    format!("    b'{line}\\n'\n").repeat(4)
                ),
                "getElementsByClassNameAndAttributeValue2024WithFallback",
                "pub const szOID_PKCS_12_pbeWithSHA1And2KeyTripleDES: PCSTR",
                "kCFISO8601DateFormatWithInternetDateTime: CFISO8601DateFormatOptions",
                "src/components/Header2/index3/Button4Test/file5",
            ],
        );
    }
}
