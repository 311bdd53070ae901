//! The user and password in a URL: `postgres://user:password@host/db`.

use std::ops::Range;

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::scan::{Candidate, Scan};
use crate::{Kind, placeholder};

const URL_CREDENTIALS: Kind = Kind::new("URL_CREDENTIALS");

pub(crate) static DETECTOR: Detector = Detector {
    name: "url_credentials",
    kinds: || vec![URL_CREDENTIALS],
    default_policy: DefaultPolicy::OneWay,
    repeats: Repeats::SearchedAfterColon,
    triggers: &[Trigger::Literals(|| &["://"], check)],
};

const CONFIDENCE: f32 = 0.96;
/// A longer text before an `@` is not a user and a password.
const MAX_USER_INFO: usize = 2048;
/// Words for a password, which documentation has in its place.
const PASSWORD_WORDS: [&str; 5] = ["password", "pass", "pwd", "passwd", "pw"];
/// Other names of variables in templates.
const VARIABLES: [&str; 4] = ["xxx", "secret", "token", "p"];
/// What surrounds the name of a variable.
const BRACKETS: [(&str, &str); 9] = [
    ("{{", "}}"),
    ("${", "}"),
    ("$(", ")"),
    ("%(", ")s"),
    ("{", "}"),
    ("(", ")"),
    ("<", ">"),
    ("[", "]"),
    ("%", "%"),
];

fn check(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    if let Some(range) = user_info(scan.text, &hit) {
        scan.add(URL_CREDENTIALS, range.start, range.end, CONFIDENCE);
    }
}

/// The credentials of the URLs in a text that is not decoded, where `:\/\/` separates the scheme too.
pub(crate) fn in_text(text: &str) -> Vec<Candidate> {
    let found = ["://", r":\/\/"].into_iter().flat_map(|separator| {
        memchr::memmem::find_iter(text.as_bytes(), separator)
            .filter_map(move |at| user_info(text, &(at..at + separator.len())))
    });
    let candidate = |range: Range<usize>| Candidate {
        start: range.start,
        end: range.end,
        kind: URL_CREDENTIALS,
        detector: &DETECTOR,
        confidence: CONFIDENCE,
    };
    found.map(candidate).collect()
}

/// The range of `user:password` after the separator of a scheme. It extends to the last `@` before
/// the path: a password may contain an `@` that should have been encoded, and any other sign.
fn user_info(text: &str, separator: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let scheme_end = separator.start.checked_sub(1)?;
    if !bytes[scheme_end].is_ascii_alphanumeric() {
        return None;
    }
    let start = separator.end;
    let quote = quote_before(bytes, scheme_end);
    let window = &bytes[start..bytes.len().min(start + MAX_USER_INFO)];
    let is_end = |b: &u8| {
        b.is_ascii_whitespace() || matches!(b, b'/' | b'?' | b'#' | b'\\') || Some(*b) == quote
    };
    let stop = window.iter().position(is_end).unwrap_or(window.len());
    let at = memchr::memrchr(b'@', &window[..stop])?;
    let info = text.get(start..start + at)?;
    let (user, password) = info.split_once(':')?;
    if is_list(info) || is_sample(user, password) {
        return None;
    }
    // `https://TOKEN:@host`: the user is the secret.
    let is_token = || user.len() >= 8 && user.bytes().any(|b| b.is_ascii_digit());
    (!password.is_empty() || is_token()).then_some(start..start + at)
}

/// The quote in which the URL stands.
fn quote_before(bytes: &[u8], scheme_end: usize) -> Option<u8> {
    const MAX_SCHEME: usize = 32;
    let from = scheme_end.saturating_sub(MAX_SCHEME);
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.' | b':');
    let before = bytes[from..scheme_end].iter().rev().find(|b| !part(b))?;
    let closing = match before {
        b'<' => b'>',
        b'(' => b')',
        quote => *quote,
    };
    matches!(closing, b'"' | b'\'' | b'`' | b'>' | b')').then_some(closing)
}

/// Whether the URL ends before the `@`, at a host and port and a delimiter:
/// `http://a.example:80,jo@b.example`.
fn is_list(info: &str) -> bool {
    let Some(end) = info.find(['"', '\'', '`', '<', '>', ',', '|', ';']) else {
        return false;
    };
    if info[..end].contains('@') {
        return false;
    }
    match info[..end].split_once(':') {
        None => true,
        Some((host, port)) => {
            let is_host = host.contains('.') || host == "localhost";
            is_host && port.bytes().all(|b| b.is_ascii_digit())
        }
    }
}

/// `user:password@host` in documentation, and `${USER}:${PASS}@host` in templates.
fn is_sample(user: &str, password: &str) -> bool {
    let letters = |text: &str| text.len() == 1 && text.bytes().all(|b| b.is_ascii_alphabetic());
    let short = letters(user) && letters(password);
    let sample_name = matches!((user, password), ("foo", "bar" | "baz") | ("Foo", "Bar"));
    is_template(password) || is_among(&PASSWORD_WORDS, password) || short || sample_name
}

fn is_among(words: &[&str], text: &str) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether all of a password is a variable, a placeholder or asterisks. Brackets alone do not make a
/// variable: a password may begin and end with them.
fn is_template(password: &str) -> bool {
    let within = |(open, close): &(&str, &str)| {
        let rest = password.strip_prefix(*open)?;
        rest.strip_suffix(*close)
    };
    BRACKETS.iter().filter_map(within).any(is_variable)
        || password.strip_prefix('$').is_some_and(is_variable)
        || matches!(password, "%s" | "%v" | "%d" | "%q")
        || placeholder::spans(password).next() == Some(0..password.len())
        || is_asterisks(password)
}

/// Whether a name is one of a variable: in capitals, or a word for a password.
fn is_variable(name: &str) -> bool {
    let part = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    let is_first = |c: char| c.is_ascii_uppercase() || c == '_';
    (name.starts_with(is_first) && name.bytes().all(part))
        || is_among(&PASSWORD_WORDS, name)
        || is_among(&VARIABLES, name)
}

fn is_asterisks(password: &str) -> bool {
    let is_sign = |b: u8| matches!(b, b'*' | b'x' | b'X' | b'.');
    !password.is_empty() && password.bytes().all(is_sign)
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
                ("redis://:p%2Fq%2Fr99x@h:6379", ":p%2Fq%2Fr99x"),
                ("amqp://u:pa%20ss%20w0rd@h/v", "u:pa%20ss%20w0rd"),
                ("postgres://app:s3cr3t%23x@db", "app:s3cr3t%23x"),
                (
                    "postgres://app:p%40ss%3Aword%2F99@db.example/x",
                    "app:p%40ss%3Aword%2F99",
                ),
                ("mysql://app:%2Fetc%3F%23x9@db/x", "app:%2Fetc%3F%23x9"),
                ("ftp://jo:%252Fp%2540ss9@h/x", "jo:%252Fp%2540ss9"),
                (r#"{"u":"postgres:\/\/app:p%2Fq9x@db\/x"}"#, "app:p%2Fq9x"),
                ("db = postgres://app:pa,ss'w0rd@db/x", "app:pa,ss'w0rd"),
                ("db=postgres://app:p\"a<b>c;9|x`@db/x", "app:p\"a<b>c;9|x`"),
                ("postgres://app:$ecr3t99@db", "app:$ecr3t99"),
                ("postgres://app:(s3cr3t*@db", "app:(s3cr3t*"),
                ("postgres://app:s3cr3t99@${DB_HOST}/x", "app:s3cr3t99"),
                ("postgres://app:“s3cr3t9”@db", "app:“s3cr3t9”"),
                (
                    "https://jo:hunter2xyz[EMAIL_1]@host.example/db",
                    "jo:hunter2xyz",
                ),
                ("https://jo:[A_1]hunter2@host", "jo:[A_1]hunter2"),
                ("https://4f9a8b7c6d5e:@api.example", "4f9a8b7c6d5e:"),
                ("https://jo:(hunter2xyz9)@h", "jo:(hunter2xyz9)"),
                ("https://jo:{hunter2xyz9}@h", "jo:{hunter2xyz9}"),
                ("https://jo:[hunter2xyz9]@h", "jo:[hunter2xyz9]"),
                ("https://jo:<hunter2xyz9>@h", "jo:<hunter2xyz9>"),
                ("https://jo:${hunter2xyz9}@h", "jo:${hunter2xyz9}"),
                ("https://jo:$correcthorse@h", "jo:$correcthorse"),
                ("https://jo:secret@h", "jo:secret"),
                ("https://jo:token@h", "jo:token"),
            ],
            &[
                "https://example.com/a:b@c",
                "https://user:password@example.com",
                "https://${USER}:${PASS}@example.com",
                "https://jo@example.com",
                "https://jo:Password@example.com",
                "redis://foo:bar@somehost:6379/0",
                "http://a:b@c:29/d",
                "http://localhost:3000/@scope",
                "https://{user}:{token}@host",
                "https://jo:$PASS@host",
                "https://jo:{PASSWORD}@host",
                "https://jo:<YOUR_TOKEN>@host",
                "https://jo:{{DB_PASS}}@host",
                "https://jo:%(password)s@host",
                "https://jo:[PASSWORD_1_k3f9]@host",
                "https://jo:%s@host",
                "https://jo:****@host",
                "https://jo:[PASSWORD_1]@host",
                r#"["http://a.example:80","jo@b.example"]"#,
                "http://a.example:80,jo@b.example",
                "see <http://a.example:80>, jo@b.example",
            ],
        );
    }
}
