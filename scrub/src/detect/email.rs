//! E-mail addresses (RFC 5321, and internationalized ones of RFC 6531).

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::boundary::is_word;
use crate::scan::Scan;

const EMAIL: Kind = Kind::new("EMAIL");

pub(super) static DETECTOR: Detector = Detector {
    name: "email",
    kinds: || vec![EMAIL],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::FoundByDetector,
    triggers: &[Trigger::AtSign(check)],
};

/// The longest part before the `@` (RFC 5321), in bytes.
const MAX_LOCAL_BYTES: usize = 64;

fn check(scan: &mut Scan<'_>, at: usize) {
    let start = local_start(scan, at);
    if start == at {
        return;
    }
    // Text glued to the front must not hide an address.
    let start = start.max(
        scan.text
            .ceil_char_boundary(at.saturating_sub(MAX_LOCAL_BYTES)),
    );
    let Some(end) = domain_end(scan, at + 1) else {
        return;
    };
    if is_url_password(scan, start) {
        return;
    }
    let in_path = scan.before(start) == b'/' && !url_user(scan, start);
    if in_path && !is_mailbox(&scan.text[at + 1..end]) {
        return;
    }
    scan.add(EMAIL, start, end, 0.95);
}

fn local_start(scan: &Scan<'_>, at: usize) -> usize {
    let start = scan.run_back(at, |b| {
        is_word(b)
            || matches!(
                b,
                b'.' | b'_' | b'%' | b'+' | b'-' | b'\'' | b'&' | b'!' | b'#'
            )
    });
    // A dot or quote at the edge belongs to the sentence.
    let start = scan.run(start, |b| {
        matches!(b, b'.' | b'\'' | b'&' | b'!' | b'#' | b'%' | b'-')
    });
    // Addresses that are glued together share the characters between their `@`s.
    let glued = scan.before(start) == b'@';
    let start = match domain_end(scan, start).filter(|end| glued && *end < at) {
        Some(end) => scan.run(end, |b| !is_word(b)),
        None => start,
    };
    match scan.before(at) {
        b'.' => at,
        _ => start.min(at),
    }
}

/// `/users/jo@example.com` is a mailbox, `golang.org/x/tools@v1.2.3-rc.beta` and `run/node@20.app`
/// are packages: after a slash, only a plain domain under a common top-level domain counts.
fn is_mailbox(domain: &str) -> bool {
    #[rustfmt::skip]
    const TOP_LEVEL: [&str; 40] = [
        "com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "example", "eu", "uk", "de", "fr", "it", "es",
        "nl", "be", "ch", "at", "pl", "se", "no", "dk", "fi", "ie", "pt", "cz", "us", "ca", "mx", "br", "ar", "au",
        "nz", "in", "jp", "kr", "cn", "za",
    ];
    let version = |part: &str| {
        let part = part.strip_prefix(['v', 'V']).unwrap_or(part);
        part.starts_with(|c: char| c.is_ascii_digit())
    };
    let top = domain.rsplit('.').next().unwrap_or_default();
    TOP_LEVEL.iter().any(|t| top.eq_ignore_ascii_case(t)) && !domain.split('.').any(version)
}

/// `//user@host` is the user of a URL, which is as private as a mailbox.
fn url_user(scan: &Scan<'_>, start: usize) -> bool {
    scan.before(start) == b'/' && start >= 2 && scan.bytes[start - 2] == b'/'
}

/// Whether a URL's user and a colon precede: `https://jo:password@host` has a password, which another
/// detector judges.
fn is_url_password(scan: &Scan<'_>, start: usize) -> bool {
    if scan.before(start) != b':' {
        return false;
    }
    let user = scan.run_back(start - 1, |b| {
        is_word(b) || matches!(b, b'.' | b'_' | b'%' | b'-')
    });
    scan.bytes[..user].ends_with(b"://")
}

fn domain_end(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let run = scan.run(start, |b| is_word(b) || matches!(b, b'.' | b'-'));
    let mut end = run;
    while matches!(scan.before(end), b'.' | b'-') && end > start {
        end -= 1;
    }
    let domain = scan.text.get(start..end)?;
    // `user@host.call(` is code, `jo@example.com(work)` is not.
    if domain.len() > 253 || scan.at(end) == b'(' && !is_mailbox(domain) {
        return None;
    }
    let (_, top) = domain.rsplit_once('.')?;
    let labels_fit = domain
        .split('.')
        .all(|l| !l.is_empty() && l.len() <= 63 && !l.starts_with('-') && !l.ends_with('-'));
    let top_fits = top.starts_with("xn--")
        || (top.chars().count() >= 2 && top.chars().all(char::is_alphabetic) && !is_file_type(top));
    (labels_fit && top_fits).then_some(end)
}

/// `sprite@2x.png` and `logo@dark.svg` are file names.
fn is_file_type(top: &str) -> bool {
    const TYPES: [&str; 24] = [
        "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "js", "mjs", "cjs", "ts", "jsx", "tsx",
        "css", "scss", "html", "json", "map", "exe", "dll", "so", "service", "timer", "lock",
    ];
    TYPES.iter().any(|t| top.eq_ignore_ascii_case(t))
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn addresses_are_found_and_other_uses_of_an_at_sign_are_not() {
        cases::check(
            "EMAIL",
            &[
                ("a@x.example+b@y.example", "b@y.example"),
                ("a@x.example-b@y.example", "x.example-b@y.example"),
                (
                    "write to jo.doe+tag@mail.example.org.",
                    "jo.doe+tag@mail.example.org",
                ),
                ("<jo@example.com>", "jo@example.com"),
                ("mailto:jo@example.com?subject=x", "jo@example.com"),
                ("to=jo@example.com&cc=", "jo@example.com"),
                ("user@xn--80ak6aa92e.com", "user@xn--80ak6aa92e.com"),
                ("jörg@bücher.example", "jörg@bücher.example"),
                ("'o.neil@example.ie'", "o.neil@example.ie"),
                ("jo%40example.com", "jo%40example.com"),
                ("jo\u{200b}@example.com", "jo\u{200b}@example.com"),
                ("ｊｏ＠example．com", "ｊｏ＠example．com"),
                (r#"{\"mail\":\"jo@example.com\"}"#, "jo@example.com"),
                (
                    "GET /api/users/john.doe@example.com HTTP/1.1",
                    "john.doe@example.com",
                ),
                (
                    "https://x.example/unsubscribe/jo@example.com",
                    "jo@example.com",
                ),
            ],
            &[
                "@types/node@20.1.0",
                "npm i react@18.2.0",
                "sprite@2x.png",
                "@media (min-width: 1px)",
                "user@localhost",
                "https://jo:password@host.example.com/x",
                "a@b",
                "info@example.",
                "git@",
                "import x from '@scope/pkg'",
                "foo@bar..com",
                "golang.org/x/tools@v1.2.3-rc.beta",
                "golang.org/x/tools@1.2.com",
                "cdn/npm/vue@next.prod",
                "https://www.tiktok.com/@someone.com",
            ],
        );
    }
}
