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
    let alone = || is_bare_key(scan, hit);
    (camel || joined || alone())
        && !is_word(scan.at(hit.end))
        && !ends_with_word(scan, hit.start, &OTHERS)
}

/// Whether `key` is a word of its own that means the key of a service: in a query (`?key=…`), or near a
/// word such as API.
fn is_bare_key(scan: &Scan<'_>, hit: &Range<usize>) -> bool {
    const SERVICES: [&str; 8] = [
        "api",
        "auth",
        "credential",
        "credentials",
        "secret",
        "token",
        "login",
        "account",
    ];
    match scan.before(hit.start) {
        b'?' | b'&' => scan.at(hit.end) == b'=',
        0 | b' ' | b'\t' | b'\n' | b'"' | b'\'' => {
            let separator = matches!(scan.at(hit.end), b'=' | b':' | b'"' | b'\'' | b' ');
            separator && scan.has_word_near(hit.start, hit.end, &SERVICES)
        }
        _ => false,
    }
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
