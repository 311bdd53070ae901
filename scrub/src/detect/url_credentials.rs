//! The user and password in a URL: `postgres://user:password@host/db`.

use std::ops::Range;

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::scan::Scan;

const URL_CREDENTIALS: Kind = Kind::new("URL_CREDENTIALS");

pub(super) static DETECTOR: Detector = Detector {
    name: "url_credentials",
    kinds: || vec![URL_CREDENTIALS],
    default_policy: DefaultPolicy::OneWay,
    repeats: Repeats::FoundByDetector,
    triggers: &[Trigger::Literals(|| &["://"], check)],
};

fn check(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    if !scan.before(hit.start).is_ascii_alphanumeric() {
        return;
    }
    let start = hit.end;
    let limit = scan.bytes.len().min(start + 300);
    let window = &scan.bytes[start..limit];
    let stop = window
        .iter()
        .position(|b| {
            b.is_ascii_whitespace()
                || matches!(
                    b,
                    b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'?' | b'#' | b'\\' | b','
                )
        })
        .unwrap_or(window.len());
    // A password may contain an @ that should have been encoded: the last one is the separator.
    let Some(at) = memchr::memrchr(b'@', &window[..stop]) else {
        return;
    };
    let Some((user, password)) = scan
        .text
        .get(start..start + at)
        .and_then(|c| c.split_once(':'))
    else {
        return;
    };
    if password.is_empty()
        || !scan.at(start + at + 1).is_ascii_alphanumeric() && scan.at(start + at + 1) != b'['
        || is_sample(user, password)
    {
        return;
    }
    scan.add(URL_CREDENTIALS, start, start + at, 0.96);
}

/// `user:password@host` in documentation, and `${USER}:${PASS}@host` in templates.
fn is_sample(user: &str, password: &str) -> bool {
    const SAMPLES: [&str; 8] = [
        "password", "pass", "pwd", "passwd", "xxx", "secret", "pw", "p",
    ];
    let template = |part: &str| {
        part.starts_with(['$', '{', '%', '[', '*', ':', '(']) || part.ends_with(['}', ')', ']'])
    };
    let sample_user = matches!(
        user,
        "user" | "username" | "usr" | "u" | "name" | "login" | "foo" | "admin" | "root" | "a"
    );
    template(password) || (sample_user && SAMPLES.iter().any(|s| password.eq_ignore_ascii_case(s)))
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn a_password_in_a_url_is_found_and_a_sample_is_not() {
        cases::check(
            "URL_CREDENTIALS",
            &[
                (
                    "postgres://app:s3cr3tly@db.example.com:5432/x",
                    "app:s3cr3tly",
                ),
                ("https://jo:pa55-w0rd@example.com", "jo:pa55-w0rd"),
                ("redis://:hunter2hunter2@10.1.2.3:6379", ":hunter2hunter2"),
                ("amqp://jo:p@ss@host.example/v", "jo:p@ss"),
            ],
            &[
                "https://example.com/a:b@c",
                "https://user:password@example.com",
                "https://${USER}:${PASS}@example.com",
                "https://jo@example.com",
                "http://localhost:3000/@scope",
                "https://{user}:{token}@host",
            ],
        );
    }
}
