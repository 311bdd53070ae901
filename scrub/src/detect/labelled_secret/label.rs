//! The labels of secrets: words that name a password or a key, and what follows them.

use std::ops::Range;

use crate::Kind;
use crate::boundary::is_word;
use crate::scan::Scan;

pub(super) const PASSWORD: Kind = Kind::new("PASSWORD");
pub(super) const CREDENTIAL: Kind = Kind::new("CREDENTIAL");

/// The meaning of a label, which decides how its value is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// A password, which a person chooses.
    Password,
    /// `pass` or `pw`: a password, if it is a word of its own.
    Pass,
    /// `pw`: the same, also after a space.
    Pw,
    /// A key or secret, which is generated.
    Credential,
    /// `token`: a credential, unless it is a page token.
    Token,
    /// `key` at the end of a name: a credential, unless the name is that of another key.
    Key,
    /// The `Authorization` header: a scheme, then the credentials.
    Authorization,
    /// The scheme of that header; the credentials follow without a separator.
    Scheme,
    /// A header with cookies.
    Cookie,
}

impl Label {
    pub(super) fn is_password(self) -> bool {
        matches!(self, Self::Password | Self::Pass | Self::Pw)
    }

    pub(super) fn kind(self) -> Kind {
        match self.is_password() {
            true => PASSWORD,
            false => CREDENTIAL,
        }
    }

    /// Whether the word at `hit` is a part of a name that means something else.
    pub(super) fn means_other(self, scan: &Scan<'_>, hit: &Range<usize>) -> bool {
        match self {
            Self::Token => is_page_token(scan, hit.start),
            Self::Pass => !is_whole_pass(scan, hit),
            Self::Pw => is_word(scan.before(hit.start)),
            Self::Key => !is_secret_key(scan, hit),
            _ => false,
        }
    }
}

macro_rules! labels {
    ($($label:ident: $($text:literal),+;)+) => {
        pub(super) const LABELS: &[(&str, Label)] = &[$($(($text, Label::$label)),+),+];
        pub(super) const LABEL_TEXTS: &[&str] = &[$($($text),+),+];
    };
}

labels! {
    Password: "password", "passwd", "passphrase", "passcode", "pswd", "pwd", "psswd", "pswrd", "psword", "psswrd", "pssword", "paswd",
        "paswrd", "pasword", "passwrd", "passwod", "contrase", "passwort", "kennwort",
        "mot de passe", "mot_de_passe", "senha", "wachtwoord", "hasło", "пароль", "密码", "비밀번호", "パスワード";
    Pass: "pass", "psw";
    Pw: "pw:", "pw=", "pw ", "p/w";
    Credential: "secret", "secret key", "access key", "api_key", "apikey", "api-key", "api key", "access_key",
        "accesskey", "access-key", "auth_key", "authkey", "private_key", "privatekey", "client_secret", "clientsecret",
        "client secret", "client_key", "credential", "encryption_key", "encryptionkey", "signing_key", "master_key",
        "service_key", "account_key", "session_key", "subscription-key", "sessionid", "session_id", "sessid", "_session",
        "connect.sid", "connectionstring", "connection_string", "license_key", "licensekey", "oauth", "_auth", "\"auth\"",
        "db_key", "priv_key", "webhook_url", "hmac", "creds";
    Token: "token";
    Key: "key";
    Authorization: "authorization";
    Scheme: "bearer ", "basic ", "ntlm ";
    Cookie: "set-cookie", "cookie";
}

/// The name of a setting extends at most this far after its label, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// What may follow a label in the name of a setting.
#[rustfmt::skip]
const SUFFIXES: [&str; 25] = [
    "", "s", "key", "id", "value", "hash", "prod", "production", "test", "staging", "dev", "header", "1", "2", "string",
    "text", "ña", "na", "secure", "old", "new", "live", "base", "confirm", "default",
];

/// Names of settings about a secret, which is not their value: `secret_length`, `token_type`.
const OTHER_ENDS: [&str; 12] = [
    "length",
    "len",
    "size",
    "count",
    "type",
    "algorithm",
    "pattern",
    "policy",
    "expiry",
    "ttl",
    "version",
    "lifetime",
];

/// The start of the value. A label inside a longer name counts (`DB_PASSWORD`), one that only
/// begins a word (`tokenizer`) does not.
pub(super) fn value_start(scan: &Scan<'_>, label: Label, hit: &Range<usize>) -> Option<usize> {
    if label == Label::Scheme {
        let header = scan.before(hit.start).is_ascii_alphabetic();
        return (!header).then(|| scan.run(hit.end, |b| b == b' '));
    }
    let name_end = scan.run_at_most(hit.end, MAX_NAME_BYTES, |b| {
        is_word(b) || matches!(b, b'_' | b'-')
    });
    let rest = scan.text.get(hit.end..name_end)?.to_ascii_lowercase();
    let rest = rest.trim_matches(['_', '-']);
    let camel = scan.at(hit.end).is_ascii_uppercase() && scan.before(hit.end).is_ascii_lowercase();
    if label == Label::Credential
        && rest == "id"
        && scan.text[hit.clone()].eq_ignore_ascii_case("credential")
    {
        return None;
    }
    if !SUFFIXES.contains(&rest) && scan.at(hit.end) != b'_' && !camel && rest.is_ascii() {
        return None;
    }
    if OTHER_ENDS.iter().any(|end| rest.ends_with(end)) {
        return None;
    }
    if let Some(value) = scan
        .value_after(name_end)
        .or_else(|| paired_value(scan, name_end))
        .or_else(|| argument(scan, name_end))
    {
        return Some(past_type(scan, value));
    }
    if is_option(scan, hit.start, name_end) {
        return Some(scan.run_at_most(name_end + 1, 1, |b| matches!(b, b'"' | b'\'')));
    }
    let rest = scan.text.get(name_end..)?;
    // `ALTER USER jo PASSWORD 'hunter2'`
    if label == Label::Password && (rest.starts_with(" '") || rest.starts_with(" \"")) {
        return Some(name_end + 2);
    }
    // `the password is hunter2`
    let verb = [" is: ", " is ", " are ", " was ", " ist ", " es ", " est "]
        .into_iter()
        .find(|v| rest.starts_with(v))?;
    Some(scan.run(name_end + verb.len(), |b| matches!(b, b'"' | b'\'' | b'`')))
}

/// The start of the value after its type: `password: String = "hunter2"`.
fn past_type(scan: &Scan<'_>, value: usize) -> usize {
    const TYPES: [&str; 5] = [
        "String = ",
        "string = ",
        "str = ",
        "&str = ",
        "&'static str = ",
    ];
    let rest = scan.text.get(value..).unwrap_or_default();
    match TYPES.iter().find(|name| rest.starts_with(**name)) {
        Some(name) => scan.run_at_most(value + name.len(), 1, |b| matches!(b, b'"' | b'\'')),
        None => value,
    }
}

/// The start of a word that may be a password though no separator precedes it: `password hunter2`,
/// `password -> hunter2`, `password of the database: hunter2`. Only a strong one counts.
pub(super) fn loose_value_start(scan: &Scan<'_>, hit: &Range<usize>) -> Option<usize> {
    const REACH: usize = 40;
    if is_word(scan.at(hit.end)) {
        return None;
    }
    let name_end = scan.run_at_most(hit.end, 2, |b| matches!(b, b'"' | b'\'' | b')' | b'`'));
    let window = scan.run_at_most(name_end, REACH, |b| b != b'\n');
    let text = scan.text.get(name_end..window)?;
    if !text.starts_with([' ', ':', '=']) {
        return None;
    }
    let separators = [" is ", ": ", " = ", " -> ", " - ", " / "];
    let separator = separators
        .iter()
        .find_map(|s| Some((text.find(s)?, s.len())));
    let offset = match separator {
        Some((at, length)) => at + length,
        None => text.starts_with(' ').then_some(1)?,
    };
    let start = name_end + offset;
    Some(scan.run_at_most(start, 2, |b| matches!(b, b'"' | b'\'' | b'`' | b'(')))
}

/// Whether the label is a command-line option with a value: `--db-password hunter2`.
fn is_option(scan: &Scan<'_>, label: usize, name_end: usize) -> bool {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let option = &scan.bytes[scan.run_back(label, part)..];
    let dashes = option.iter().take_while(|b| **b == b'-').count();
    scan.at(name_end) == b' ' && (dashes == 2 || dashes == 1 && option.len() > 2)
}

/// The start of the value in a pair whose name is the label: `name: DB_PASSWORD` and `value: …` on
/// the next line, `key="ApiKey" value="…"`.
fn paired_value(scan: &Scan<'_>, name_end: usize) -> Option<usize> {
    const MAX_GAP: usize = 48;
    let between = |b: u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b',');
    let second = scan.run_at_most(name_end, MAX_GAP, between);
    let end = second + "value".len();
    let is_value = scan.bytes.get(second..end)?.eq_ignore_ascii_case(b"value");
    (is_value && second > name_end).then(|| scan.value_after(end))?
}

/// The start of a string that follows as an argument: `put("api_key", "…")`, `setPassword("…")`.
fn argument(scan: &Scan<'_>, name_end: usize) -> Option<usize> {
    let is_quote = |b: u8| matches!(b, b'"' | b'\'' | b'`');
    // Without the bracket of a call before it, it is a list of words.
    let name = scan.run_back(name_end, |b| is_word(b) || matches!(b, b'_' | b'-'));
    let spaced = scan.run_back(name.saturating_sub(1), |b| b == b' ');
    let called = is_quote(scan.before(name)) && scan.before(spaced) == b'(';
    let comma = scan.run_at_most(name_end + 1, 2, |b| b == b' ');
    let opening = if called && is_quote(scan.at(name_end)) && scan.at(comma) == b',' {
        scan.run_at_most(comma + 1, 3, |b| b == b' ')
    } else if scan.at(name_end) == b'(' {
        name_end + 1
    } else {
        return None;
    };
    is_quote(scan.at(opening)).then_some(opening + 1)
}

/// Whether `pass` is a word of its own: `DB_PASS`, `dbPass` and `"pass"`, but not `bypass`,
/// `passed` or `second pass`.
fn is_whole_pass(scan: &Scan<'_>, hit: &Range<usize>) -> bool {
    let before = scan.before(hit.start);
    let camel = before.is_ascii_lowercase() && scan.at(hit.start).is_ascii_uppercase();
    let alone = !is_word(before) && !matches!(before, b' ' | b'-' | b'@' | b'/' | b':');
    let next = scan.at(hit.end);
    // `user:jo pass:hunter2`
    let pair = matches!(before, b' ' | b'/' | b',')
        && matches!(next, b':' | b'=')
        && !scan.at(hit.end + 1).is_ascii_whitespace();
    (camel || alone || pair) && !is_word(next) && !matches!(next, b'_' | b'-' | b'.')
}

/// Whether `token` is part of the name of a pagination token such as `nextPageToken` or `sync_token`, or of a
/// public one. Those grant no access, and a client must send them back unchanged to get the next page.
fn is_page_token(scan: &Scan<'_>, token: usize) -> bool {
    const WORDS: [&str; 13] = [
        "public",
        "csrf",
        "xsrf",
        "authenticity",
        "jsonweb",
        "page",
        "next",
        "continuation",
        "sync",
        "pagination",
        "resume",
        "delta",
        "cancel",
    ];
    ends_with_word(scan, token, &WORDS)
}

/// Whether `key` ends a name that may be a secret's: `FOO_KEY`, `fooKey`, `foo-key`; not `publicKey`,
/// `cache_key` or `monkey`.
fn is_secret_key(scan: &Scan<'_>, hit: &Range<usize>) -> bool {
    const OTHERS: [&str; 22] = [
        "public",
        "pub",
        "primary",
        "foreign",
        "cache",
        "partition",
        "sort",
        "object",
        "storage",
        "registry",
        "hot",
        "routing",
        "idempotency",
        "site",
        "react",
        "query",
        "translation",
        "i18n",
        "group",
        "range",
        "hash",
        "the",
    ];
    let before = scan.before(hit.start);
    let camel = before.is_ascii_lowercase() && scan.at(hit.start).is_ascii_uppercase();
    let joined = matches!(before, b'_' | b'-');
    (camel || joined) && !is_word(scan.at(hit.end)) && !ends_with_word(scan, hit.start, &OTHERS)
}

/// Whether one of the words is right before an offset, as a part of the same name.
fn ends_with_word(scan: &Scan<'_>, at: usize, words: &[&str]) -> bool {
    let separator = usize::from(matches!(scan.before(at), b'_' | b'-' | b' '));
    let name = &scan.bytes[..at - separator];
    words.iter().any(|word| {
        let from = name.len().saturating_sub(word.len());
        // `asyncToken` is another word.
        let begins = || name[from].is_ascii_uppercase() || !scan.before(from).is_ascii_alphabetic();
        name[from..].eq_ignore_ascii_case(word.as_bytes()) && begins()
    })
}
