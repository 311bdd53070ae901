//! Which values are secrets.
//!
//! The name of a variable, header or parameter decides how much is asked of its value:
//!
//! 1. A name that says "secret" (`GITHUB_TOKEN`, `x-api-key`, `password`): 6 characters or more.
//! 2. A name of an ordinary setting (`HOME`, `AWS_REGION`, `BASE_URL`): only a value that looks random,
//!    16 letters and digits in a row.
//! 3. Any other name: 8 characters or more, and not a word, a number, a host name, an address without
//!    credentials, an e-mail address, or the path of an existing file.
//!
//! `true`, `null` and the like, and existing paths, are never secrets.
//!
//! A secret is hidden in logs and reports for people. What scripts read is different: what is hidden there
//! tells a script that it has guessed the value, and it can send some million guesses through any tool
//! that returns them. So a value with fewer than 8 characters or 40 bits ([`is_guessable`]), for example a
//! PIN of six digits, is not hidden from scripts: that would reveal it to all of them, and leaving it
//! reveals it only where its own server sends it back. Below 64 bits, a value is hidden only as a whole
//! word ([`needs_whole_word`]), so that guesses cannot overlap.

use std::collections::HashSet;
use std::path::Path;

use url::Url;

const MIN_NAMED: usize = 6;
const MIN_OTHER: usize = 8;
const MIN_RANDOM: usize = 16;
/// Characters and bits of a value that is hidden from scripts, and bits of one that is hidden inside of
/// words.
const MIN_LENGTH: usize = 8;
const MIN_BITS: f64 = 40.0;
const MIN_BITS_IN_WORDS: f64 = 64.0;
/// A value with fewer different characters is no more random than its length.
const MIN_DISTINCT: usize = 4;

const SECRET_WORDS: [&str; 28] = [
    "ACCESSKEY",
    "APIKEY",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "CRED",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
    "KEY",
    "KEYS",
    "OTP",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PIN",
    "PRIVATE",
    "PWD",
    "SECRET",
    "SECRETS",
    "SIG",
    "SIGNATURE",
    "TOKEN",
];
const SECRET_ENDS: [&str; 5] = ["TOKEN", "TOKENS", "SECRET", "PASSWORD", "KEY"];

const ORDINARY_NAMES: [&str; 14] = [
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "TEMP", "TERM", "TMP",
    "TMPDIR", "USER", "USERNAME",
];
const ORDINARY_PREFIXES: [&str; 2] = ["LC_", "XDG_"];
const ORDINARY_LAST_WORDS: [&str; 59] = [
    "ACCEPT",
    "ADDRESS",
    "AGENT",
    "BASE",
    "BRANCH",
    "BUCKET",
    "CHANNEL",
    "COUNT",
    "DATABASE",
    "DB",
    "DEBUG",
    "DIR",
    "DIRECTORY",
    "DOMAIN",
    "EMAIL",
    "ENABLED",
    "ENCODING",
    "ENDPOINT",
    "ENV",
    "ENVIRONMENT",
    "FILE",
    "FOLDER",
    "FORMAT",
    "HOST",
    "HOSTNAME",
    "INDEX",
    "LANG",
    "LANGUAGE",
    "LEVEL",
    "LIMIT",
    "LOCALE",
    "LOCATION",
    "MODE",
    "MODEL",
    "NAME",
    "ORG",
    "ORGANIZATION",
    "ORIGIN",
    "OWNER",
    "PATH",
    "PORT",
    "PROFILE",
    "PROJECT",
    "PROVIDER",
    "REFERER",
    "REGION",
    "REPO",
    "REPOSITORY",
    "ROOT",
    "SCHEMA",
    "TEAM",
    "TIMEOUT",
    "TIMEZONE",
    "TYPE",
    "URI",
    "URL",
    "VERSION",
    "VERBOSE",
    "ZONE",
];
const NEVER: [&str; 12] = [
    "default",
    "disable",
    "disabled",
    "enable",
    "enabled",
    "false",
    "none",
    "null",
    "true",
    "undefined",
    "localhost",
    "unknown",
];

/// Whether `value`, the value of the setting `name`, is a secret.
pub fn is_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    if NEVER.contains(&value.to_ascii_lowercase().as_str()) || is_existing_path(value) {
        return false;
    }
    let length = value.chars().count();
    match kind_of(name) {
        Kind::Secret => length >= MIN_NAMED,
        Kind::Ordinary => looks_random(value),
        Kind::Other => length >= MIN_OTHER && (looks_random(value) || !is_plain(value)),
    }
}

/// Whether a script can find the value by sending guesses: it has few characters, or few that differ.
pub fn is_guessable(value: &str) -> bool {
    let distinct: HashSet<char> = value.chars().collect();
    value.chars().count() < MIN_LENGTH || distinct.len() < MIN_DISTINCT || bits(value) < MIN_BITS
}

/// Whether the value is hidden only where it is a whole word.
pub fn needs_whole_word(value: &str) -> bool {
    bits(value) < MIN_BITS_IN_WORDS
}

/// The bits of a random value of this length from these kinds of characters.
fn bits(value: &str) -> f64 {
    let size_if_used = |is_of: fn(&char) -> bool, size: f64| match value.chars().any(|c| is_of(&c))
    {
        true => size,
        false => 0.0,
    };
    let alphabet = size_if_used(char::is_ascii_digit, 10.0)
        + size_if_used(char::is_ascii_lowercase, 26.0)
        + size_if_used(char::is_ascii_uppercase, 26.0)
        + size_if_used(|letter| !letter.is_ascii_alphanumeric(), 33.0);
    value.chars().count() as f64 * alphabet.max(1.0).log2()
}

enum Kind {
    Secret,
    Ordinary,
    Other,
}

fn kind_of(name: &str) -> Kind {
    let words = words(name);
    let whole = words.join("_");
    if ORDINARY_NAMES.contains(&whole.as_str())
        || ORDINARY_PREFIXES
            .iter()
            .any(|prefix| whole.starts_with(prefix))
    {
        return Kind::Ordinary;
    }
    let is_secret = |word: &String| {
        SECRET_WORDS.contains(&word.as_str()) || SECRET_ENDS.iter().any(|end| word.ends_with(end))
    };
    if words.iter().any(is_secret) {
        return Kind::Secret;
    }
    match words.last() {
        Some(last) if ORDINARY_LAST_WORDS.contains(&last.as_str()) => Kind::Ordinary,
        _ => Kind::Other,
    }
}

/// The words of a name in upper case: `x-api-key`, `API_KEY` and `apiKey` are `API` and `KEY`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (was_lower && letter.is_uppercase()) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_uppercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether letters and digits follow each other as in a token: at least 16 of them, both kinds.
pub fn looks_random(value: &str) -> bool {
    let runs = value.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_token = |run: &str| {
        run.len() >= MIN_RANDOM
            && run.bytes().any(|byte| byte.is_ascii_digit())
            && run.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    runs.into_iter().any(is_token) || is_uuid(value)
}

fn is_uuid(value: &str) -> bool {
    let lengths: Vec<usize> = value.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && value.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

/// A word, a number, a date, a host name, an e-mail address, or an address without credentials.
fn is_plain(value: &str) -> bool {
    let is_word = value.chars().all(char::is_alphabetic);
    let is_number = value
        .chars()
        .all(|c| c.is_ascii_digit() || " .,:+-/".contains(c));
    is_word || is_number || is_host(value) || is_email(value) || is_bare_url(value)
}

fn is_host(value: &str) -> bool {
    let (host, port) = value.rsplit_once(':').unwrap_or((value, "0"));
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    let labels: Vec<&str> = host.split('.').collect();
    let is_name = host == "localhost"
        || (labels.len() > 1
            && labels.iter().copied().all(is_label)
            && labels.last().is_some_and(|last| {
                last.len() > 1 && last.bytes().all(|b| b.is_ascii_lowercase())
            }));
    is_name && port.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_email(value: &str) -> bool {
    value.split_once('@').is_some_and(|(user, host)| {
        is_host(host)
            && user
                .chars()
                .all(|c| c.is_alphanumeric() || "._+-".contains(c))
    })
}

fn is_bare_url(value: &str) -> bool {
    Url::parse(value).is_ok_and(|url| {
        url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url
                .path_segments()
                .is_none_or(|mut segments| segments.all(is_plain_segment))
    })
}

/// A part of a path that is made of words, as in `/api/v1/mcp`.
fn is_plain_segment(segment: &str) -> bool {
    let words = segment.split(['-', '_', '.']);
    words.into_iter().all(|word| {
        word.len() <= 3
            || word.bytes().all(|byte| byte.is_ascii_alphabetic())
            || word.bytes().all(|byte| byte.is_ascii_digit())
    }) && segment.len() < 24
}

fn is_existing_path(value: &str) -> bool {
    value.contains('/') && Path::new(value).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_secrets() {
        for (name, value) in [
            ("GITHUB_TOKEN", "ghp_notforspies"),
            ("PASSWORD", "swordfish"),
            ("DB_PASS", "p@ss:w0rd/99"),
            ("KEY", "k3y-0f-the-0per4tor"),
            ("ZAP", "q7Zp-secret-path-9921"),
            ("ZAP", "correct-horse-battery-staple"),
            ("apiKey", "abcdef"),
            ("x-api-key", "hunter2"),
            ("OPENAI_ACCESSTOKEN", "sk-abc"),
            ("DATABASE_URL", "postgres://app:0123456789abcdef0@db/x"),
            (
                "ZAPIER_URL",
                "https://hooks.example/s/a1b2c3d4e5f6a7b8c9/mcp",
            ),
            ("TENANT", "550e8400-e29b-41d4-a716-446655440000"),
            ("WHATEVER", "two words and 1 number"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn values_with_few_bits_are_guessable() {
        for value in [
            "482913",
            "hunter2",
            "20261118",
            "password",
            "aaaaaaaaaaaaaaaa",
            "Ab1-",
        ] {
            assert!(is_guessable(value), "{value}");
        }
        for value in ["swordfish", "k3y-0123", "p@ssw0rd", "4829130018274"] {
            assert!(!is_guessable(value), "{value}");
            assert!(needs_whole_word(value), "{value}");
        }
        assert!(!needs_whole_word("ghp_notforspies"));
    }

    #[test]
    fn ordinary_values_are_not_secrets() {
        for (name, value) in [
            ("DEBUG", "true"),
            ("API_TOKEN", "none"),
            ("TOKEN", "abc"),
            ("PORT", "8080"),
            ("WHATEVER", "8080"),
            ("WHATEVER", "20261117"),
            ("WHATEVER", "2026-11-17"),
            ("WHATEVER", "production"),
            ("WHATEVER", "/usr/bin"),
            ("SSL_KEY", "/usr/bin"),
            ("HOME", "/home/ada-lovelace"),
            ("USER", "ada-lovelace"),
            ("ME", "adalovelace"),
            ("ME", "ada@example.com"),
            ("AWS_REGION", "eu-central-1"),
            ("MODEL", "gpt-4o-mini-2026"),
            ("SERVER", "db.example.com:5432"),
            ("SERVER", "localhost:5432"),
            ("SERVER", "https://api.example.com/v1/mcp"),
            ("BASE_URL", "https://api.example.com/v1"),
            ("Accept", "application/json"),
            ("User-Agent", "pml/1.0 (test)"),
            ("GIT_AUTHOR_NAME", "Ada Lovelace"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }
}
