//! Private keys in PEM armour, OpenSSH, PGP and PuTTY files, also when they are truncated.

use std::ops::Range;

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::scan::Scan;

const PRIVATE_KEY: Kind = Kind::new("PRIVATE_KEY");

pub(super) static DETECTOR: Detector = Detector {
    name: "private_key",
    kinds: || vec![PRIVATE_KEY],
    default_policy: DefaultPolicy::OneWay,
    repeats: Repeats::FoundByDetector,
    triggers: &[Trigger::Literals(
        || &["-----BEGIN ", "PuTTY-User-Key-File-", "AGE-SECRET-KEY-1"],
        check,
    )],
};

/// A header line followed by less of a key than this is documentation.
const MIN_BODY: usize = 40;
/// With an end line, less is enough: the middle may have been elided.
const MIN_CLOSED_BODY: usize = 16;

fn check(scan: &mut Scan<'_>, literal: usize, hit: Range<usize>) {
    let end = match literal {
        0 => armour_end(scan, hit.end),
        1 => putty_end(scan, hit.end),
        _ => {
            Some(scan.run(hit.end, |b| b.is_ascii_alphanumeric())).filter(|end| end - hit.end >= 50)
        }
    };
    if let Some(end) = end {
        scan.add(PRIVATE_KEY, hit.start, end, 0.99);
    }
}

fn armour_end(scan: &Scan<'_>, name: usize) -> Option<usize> {
    let header = scan.run(name, |b| {
        b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' '
    });
    let label = &scan.text[name..header];
    if !label.contains("PRIVATE KEY") || !scan.text[header..].starts_with("-----") {
        return None;
    }
    let body = header + 5;
    // The body is base64, line ends (also written as \n), and the headers of old encrypted keys.
    let rest = &scan.text[body..];
    let limit = rest.find("-----BEGIN ").unwrap_or(rest.len());
    if let Some(close) = rest[..limit].find("-----END ") {
        let tail = body + close + 9;
        let end = scan.run(tail, |b| {
            b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' '
        });
        let end = scan.run(end, |b| b == b'-');
        let content = rest[..close]
            .bytes()
            .filter(u8::is_ascii_alphanumeric)
            .count();
        return (content >= MIN_CLOSED_BODY).then_some(end);
    }
    // Truncated: everything that can still be base64.
    let end = scan.run(body, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'\n' | b'\r' | b' ')
    });
    let first_line = scan.run(body, |b| b.is_ascii_whitespace());
    let unbroken = scan.run(first_line, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
    });
    let end = body + scan.text[body..end].trim_end().len();
    (unbroken - first_line >= MIN_BODY).then_some(end)
}

fn putty_end(scan: &Scan<'_>, at: usize) -> Option<usize> {
    // A PuTTY key file is a few kilobytes long.
    let rest = &scan.bytes[at..scan.bytes.len().min(at + 16 * 1024)];
    let mac = memchr::memmem::find(rest, b"Private-MAC:")?;
    Some(scan.run(at + mac + 12, |b| b.is_ascii_hexdigit() || b == b' '))
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn whole_keys_are_found_and_header_lines_alone_are_not() {
        let body = "SYNTHETIC0not0a0key0".repeat(4);
        let pem =
            |label: &str| format!("-----BEGIN {label}-----\n{body}\n{body}\n-----END {label}-----");
        let rsa = pem("RSA PRIVATE KEY");
        let open = pem("OPENSSH PRIVATE KEY");
        let pgp = pem("PGP PRIVATE KEY BLOCK");
        let public = pem("PUBLIC KEY");
        let certificate = pem("CERTIFICATE");
        let short =
            "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIK0lPp3x\n-----END EC PRIVATE KEY-----";
        let cut = format!("-----BEGIN PRIVATE KEY-----\n{body}");
        let escaped = rsa.replace('\n', "\\n");
        cases::check(
            "PRIVATE_KEY",
            &[
                (&rsa, &rsa),
                (&open, &open),
                (&pgp, &pgp),
                (&cut, &cut),
                (short, short),
                (&escaped, &escaped),
            ],
            &[
                &public,
                &certificate,
                "-----BEGIN PRIVATE KEY-----",
                "if (s.startsWith('-----BEGIN RSA PRIVATE KEY-----')) return",
                "-----BEGIN PRIVATE KEY----- ... -----END PRIVATE KEY-----",
            ],
        );
    }
}
