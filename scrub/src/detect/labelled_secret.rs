//! Passwords and keys after a label: `password: …`, `"api_key": "…"`, `Bearer …`.

use std::ops::Range;

use super::randomness::TokenStats;
use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::boundary::is_word;
use crate::scan::Scan;
use crate::{Kind, decode};

const PASSWORD: Kind = Kind::new("PASSWORD");
const CREDENTIAL: Kind = Kind::new("CREDENTIAL");

pub(super) static DETECTOR: Detector = Detector {
    name: "labelled_secret",
    kinds: || vec![PASSWORD, CREDENTIAL],
    default_policy: DefaultPolicy::OneWay,
    repeats: Repeats::SearchedIfDigits,
    triggers: &[Trigger::Literals(
        || &LABEL_TEXTS,
        |scan, index, hit| check(scan, LABELS[index].1, hit),
    )],
};

/// The meaning of a label, which decides how its value is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    /// A password, which a person chooses.
    Password,
    /// `pass`: a password, if it is a word of its own.
    Pass,
    /// A key or secret, which is generated.
    Credential,
    /// `token`: a credential, unless it is a page token.
    Token,
    /// The `Authorization` header: a scheme, then the credentials.
    Authorization,
    /// The scheme of that header; the credentials follow without a separator.
    Scheme,
    /// A header with cookies.
    Cookie,
}

impl Label {
    fn is_password(self) -> bool {
        matches!(self, Self::Password | Self::Pass)
    }

    fn kind(self) -> Kind {
        match self.is_password() {
            true => PASSWORD,
            false => CREDENTIAL,
        }
    }
}

#[rustfmt::skip]
const LABELS: [(&str, Label); 45] = [
    ("password", Label::Password), ("passwd", Label::Password), ("passphrase", Label::Password),
    ("passcode", Label::Password), ("pwd", Label::Password), ("contrase", Label::Password),
    ("passwort", Label::Password), ("kennwort", Label::Password), ("mot de passe", Label::Password),
    ("senha", Label::Password), ("pass", Label::Pass), ("secret", Label::Credential),
    ("secret key", Label::Credential), ("access key", Label::Credential), ("token", Label::Token),
    ("api_key", Label::Credential), ("apikey", Label::Credential), ("api-key", Label::Credential),
    ("api key", Label::Credential), ("access_key", Label::Credential), ("accesskey", Label::Credential),
    ("access-key", Label::Credential), ("auth_key", Label::Credential), ("authkey", Label::Credential),
    ("private_key", Label::Credential), ("privatekey", Label::Credential), ("client_secret", Label::Credential),
    ("clientsecret", Label::Credential), ("client secret", Label::Credential), ("credential", Label::Credential),
    ("encryption_key", Label::Credential), ("signing_key", Label::Credential), ("master_key", Label::Credential),
    ("service_key", Label::Credential), ("account_key", Label::Credential), ("session_key", Label::Credential),
    ("subscription-key", Label::Credential), ("authorization", Label::Authorization), ("bearer ", Label::Scheme),
    ("basic ", Label::Scheme), ("set-cookie", Label::Cookie), ("cookie", Label::Cookie),
    ("sessionid", Label::Credential), ("session_id", Label::Credential), ("connectionstring", Label::Credential),
];

const LABEL_TEXTS: [&str; LABELS.len()] = {
    let mut texts = [""; LABELS.len()];
    let mut index = 0;
    while index < texts.len() {
        texts[index] = LABELS[index].0;
        index += 1;
    }
    texts
};

/// The name of a setting extends at most this far after its label, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// Longer values are not secrets, and the bound limits the time for a text with many labels. It is
/// a little more than the longest secret.
const MAX_VALUE_BYTES: usize = 520;
/// The most placeholders within one value, for the same reason.
const MAX_PLACEHOLDERS: usize = 4;

fn check(scan: &mut Scan<'_>, label: Label, hit: Range<usize>) {
    let is_password = label.is_password();
    let kind = label.kind();
    let in_key = scan.in_key(hit.end);
    let means_other = match label {
        Label::Token => is_page_token(scan, hit.start),
        Label::Pass => !is_whole_pass(scan, &hit),
        _ => false,
    };
    if means_other {
        return;
    }
    let Some(start) = value_start(scan, label, &hit) else {
        return;
    };
    if label == Label::Cookie && check_cookies(scan, start) {
        return;
    }
    let start = match label {
        Label::Authorization => after_scheme(scan, start),
        _ => start,
    };
    if in_key {
        return check_key_value(scan, label, start);
    }
    let quote = scan.before(start);
    let quoted = matches!(quote, b'"' | b'\'' | b'`');
    // A placeholder before the value, or one that a hostile text put there, is not part of it.
    let start = scan.skip_placeholders(start);
    let end = if quoted {
        scan.run_at_most(start, MAX_VALUE_BYTES, |b| {
            b != quote && b != b'"' && b != b'\n'
        })
    } else {
        unquoted_end(scan, start)
    };
    // `password=…&next=…` in a query string.
    let query = memchr::memchr(b'&', &scan.bytes[start..end])
        .filter(|at| scan.bytes[start + at..end].contains(&b'='));
    let end = query.map_or(end, |at| start + at);
    let end = if quoted {
        end
    } else {
        scan.run_back(end, |b| matches!(b, b'.' | b'!' | b'?'))
            .min(end)
            .max(start)
    };
    let Some(value) = scan.text.get(start..end) else {
        return;
    };
    if !is_password && is_basic_auth(value) {
        return scan.add(kind, start, end, 0.95);
    }
    let call = value.contains('(') || matches!(scan.at(end), b'(' | b'[' | b'{');
    let symbol = value.starts_with(['$', '%', '*', '/', '@', '&', '(', '\\']);
    if symbol || !quoted && call || is_code(value) {
        return;
    }
    let confidence = confidence(value, is_password, quoted);
    scan.add(kind, start, end, confidence);
}

/// The end of a value without quotes. A placeholder within it is part of it.
fn unquoted_end(scan: &Scan<'_>, start: usize) -> usize {
    let part = |b: u8| {
        let ends = matches!(
            b,
            b'"' | b'\'' | b'`' | b',' | b';' | b')' | b'<' | b'}' | b']'
        );
        b.is_ascii_graphic() && !ends
    };
    let mut end = start;
    let mut placeholders = 0;
    loop {
        let room = (start + MAX_VALUE_BYTES).saturating_sub(end);
        end = scan.run_at_most(end, room, |b| part(b) && b != b'[');
        if scan.at(end) != b'[' || end >= start + MAX_VALUE_BYTES {
            return end;
        }
        end = match scan.placeholder_end(end) {
            Some(_) if placeholders == MAX_PLACEHOLDERS => return end,
            Some(after) => {
                placeholders += 1;
                after
            }
            None => end + 1,
        };
    }
}

/// Whether `pass` is a word of its own: `DB_PASS`, `dbPass` and `"pass"`, but not `bypass`,
/// `passed` or `second pass`.
fn is_whole_pass(scan: &Scan<'_>, hit: &Range<usize>) -> bool {
    let before = scan.before(hit.start);
    let camel = before.is_ascii_lowercase() && scan.at(hit.start).is_ascii_uppercase();
    let alone = !is_word(before) && !matches!(before, b' ' | b'-' | b'@' | b'/' | b':');
    let next = scan.at(hit.end);
    (camel || alone) && !is_word(next) && !matches!(next, b'_' | b'-' | b'.')
}

/// The start of the credentials after the scheme of an `Authorization` header.
fn after_scheme(scan: &Scan<'_>, start: usize) -> usize {
    const MAX_SCHEME: usize = 24;
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
    let end = scan.run_at_most(start, MAX_SCHEME, part);
    match (scan.at(end), scan.at(end + 1)) {
        (b' ', next) if end > start && next.is_ascii_graphic() => end + 1,
        _ => start,
    }
}

/// Whether a value is base64 of `user:pass`, as the scheme `Basic` sends it: `dXNlcjpwYXNz`.
fn is_basic_auth(value: &str) -> bool {
    value.len() >= 8 && decode::decode_short(value).is_some_and(|text| text.contains(':'))
}

/// Adds the value of each cookie that could be a session id, and returns whether there were any
/// cookies.
fn check_cookies(scan: &mut Scan<'_>, start: usize) -> bool {
    const MAX_COOKIE_BYTES: usize = 2048;
    const ATTRIBUTES: [&str; 5] = ["expires", "path", "domain", "max-age", "samesite"];
    let part = |b: u8| !matches!(b, b'"' | b'\'' | b'`' | b'\n');
    let end = scan.run_at_most(start, MAX_COOKIE_BYTES, part);
    let (text, mut at, mut any) = (scan.text, start, false);
    for pair in text.get(start..end).unwrap_or_default().split(';') {
        if let Some((name, value)) = pair.split_once('=') {
            let name = name.trim();
            any |= !name.is_empty() && !name.contains([' ', '(', '{']);
            let value_end = at + pair.trim_end().len();
            let attribute = ATTRIBUTES.iter().any(|a| name.eq_ignore_ascii_case(a));
            if any && !attribute && is_session_id(value.trim_end()) {
                scan.add(
                    CREDENTIAL,
                    value_end - value.trim_end().len(),
                    value_end,
                    0.7,
                );
            }
        }
        at += pair.len() + 1;
    }
    any
}

/// Whether a cookie's value is longer than a setting such as `light`, with letters and digits.
fn is_session_id(value: &str) -> bool {
    value.len() >= 8
        && value.bytes().any(|b| b.is_ascii_digit())
        && value.bytes().any(|b| b.is_ascii_alphabetic())
        && !value.contains(' ')
        && !is_code(value)
}

/// Whether `token` is part of a pagination token such as `nextPageToken` or `sync_token`. Those
/// grant no access, and a client must send them back unchanged to get the next page.
fn is_page_token(scan: &Scan<'_>, token: usize) -> bool {
    const WORDS: [&str; 7] = [
        "page",
        "next",
        "continuation",
        "sync",
        "pagination",
        "resume",
        "delta",
    ];
    let separator = usize::from(matches!(scan.before(token), b'_' | b'-' | b' '));
    let name = &scan.bytes[..token - separator];
    WORDS.iter().any(|word| {
        let from = name.len().saturating_sub(word.len());
        // `asyncToken` is another word.
        let begins = || name[from].is_ascii_uppercase() || !scan.before(from).is_ascii_alphabetic();
        name[from..].eq_ignore_ascii_case(word.as_bytes()) && begins()
    })
}

/// The start of the value. A label inside a longer name counts (`DB_PASSWORD`), one that only
/// begins a word (`tokenizer`) does not.
fn value_start(scan: &Scan<'_>, label: Label, hit: &Range<usize>) -> Option<usize> {
    if label == Label::Scheme {
        let header = scan.before(hit.start).is_ascii_alphabetic();
        return (!header).then(|| scan.run(hit.end, |b| b == b' '));
    }
    let name_end = scan.run_at_most(hit.end, MAX_NAME_BYTES, |b| {
        is_word(b) || matches!(b, b'_' | b'-')
    });
    let rest = scan.text.get(hit.end..name_end)?.to_ascii_lowercase();
    let rest = rest.trim_matches(['_', '-']);
    let suffixes = [
        "",
        "s",
        "key",
        "id",
        "value",
        "hash",
        "prod",
        "production",
        "test",
        "staging",
        "dev",
        "header",
        "1",
        "2",
        "string",
        "text",
        "ña",
    ];
    if !suffixes.contains(&rest) && scan.at(hit.end) != b'_' {
        return None;
    }
    if let Some(value) = scan
        .value_after(name_end)
        .or_else(|| paired_value(scan, name_end))
    {
        return Some(value);
    }
    if is_option(scan, hit.start, name_end) {
        return Some(name_end + 1);
    }
    // `the password is hunter2`
    let rest = scan.text.get(name_end..)?;
    let verb = [" is: ", " is ", " are ", " was ", " ist ", " es "]
        .into_iter()
        .find(|v| rest.starts_with(v))?;
    Some(scan.run(name_end + verb.len(), |b| matches!(b, b'"' | b'\'' | b'`')))
}

/// Whether the label is a command-line option with a value: `--db-password hunter2`.
fn is_option(scan: &Scan<'_>, label: usize, name_end: usize) -> bool {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    scan.at(name_end) == b' ' && scan.bytes[scan.run_back(label, part)..].starts_with(b"--")
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

/// The whole value of a key such as `password` is the secret, unless it describes the secret.
fn check_key_value(scan: &mut Scan<'_>, label: Label, start: usize) {
    let start = match label {
        Label::Authorization => start.max(scan.key_end),
        _ => scan.key_end,
    };
    let after_placeholders = |at: usize| {
        let end = scan.skip_placeholders(at);
        (end > at).then(|| scan.run(end, |b| b == b' '))
    };
    let start = std::iter::successors(Some(start), |at| after_placeholders(*at))
        .last()
        .unwrap_or(start);
    let end = scan.bytes.len();
    let Some(value) = scan.text.get(start..end).map(str::trim) else {
        return;
    };
    let spaces = value.bytes().filter(|b| *b == b' ').count();
    let letters_only = value.bytes().all(|b| b.is_ascii_alphabetic() || b == b' ');
    let is_secret = if label == Label::Pass {
        // `pass` is also a key of test results.
        spaces == 0 && confidence(value, true, true) >= 0.5
    } else if label.is_password() {
        let phrase = letters_only && spaces > 0;
        let fits = if phrase {
            is_passphrase(value)
        } else {
            spaces <= 3
        };
        value.len() >= 4 && fits && !is_schema_word(value)
    } else {
        let random = value.len() >= 8 && spaces <= 1 && !letters_only;
        random && confidence(value, false, true) >= 0.5 || is_basic_auth(value)
    };
    if is_secret && !is_variable(value) && !is_code(value) {
        scan.add(label.kind(), start, end, 0.9);
    }
}

/// Whether a value that begins with a symbol refers to a secret (`$DB_PASSWORD`, `%PASSWORD%`,
/// `@password`, `/run/secrets/db`) instead of being one (`$tr0ngP@ss`).
fn is_variable(value: &str) -> bool {
    let Some(rest) = value.strip_prefix(['$', '%', '*', '/', '@', '&', '(']) else {
        return value.starts_with('\\');
    };
    let rest = rest.strip_suffix('%').unwrap_or(rest);
    let named = rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let constant = named && !rest.bytes().any(|b| b.is_ascii_lowercase());
    constant || rest.contains('/') || !rest.bytes().any(|b| b.is_ascii_digit())
}

/// `correct horse battery staple`, and not a sentence about a password.
fn is_passphrase(value: &str) -> bool {
    const SENTENCE: [&str; 14] = [
        "the", "a", "an", "your", "my", "of", "for", "to", "is", "must", "with", "user",
        "password", "new",
    ];
    let mut words = value.split(' ');
    words.all(|word| word.bytes().all(|b| b.is_ascii_lowercase()) && !SENTENCE.contains(&word))
}

/// Words that schemas and forms use in place of a password.
fn is_schema_word(value: &str) -> bool {
    const WORDS: [&str; 14] = [
        "string",
        "password",
        "text",
        "true",
        "false",
        "null",
        "none",
        "required",
        "optional",
        "hidden",
        "number",
        "undefined",
        "redacted",
        "object",
    ];
    WORDS.iter().any(|w| value.eq_ignore_ascii_case(w))
}

/// Whether the value is code that refers to a secret: a variable, call, template, placeholder or
/// path.
fn is_code(value: &str) -> bool {
    let prefixes = [
        "{", "<", "%(", "[", "process.", "env.", "os.", "config", "self.", "this.", "http://",
        "https://", "./", "var(", "#{", "$(",
    ];
    let fragments = [
        "${", "{{", "...", "()", "=>", "://", "<%", "***", "xxxx", "XXXX",
    ];
    value.is_empty()
        || prefixes.iter().any(|p| value.starts_with(p))
        || fragments.iter().any(|f| value.contains(f))
        || (value.contains('(') && value.contains(')'))
        || is_schema_word(value)
}

fn confidence(value: &str, is_password: bool, quoted: bool) -> f32 {
    let bytes = value.as_bytes();
    if !(6..=512).contains(&bytes.len())
        || !value.is_ascii()
        || bytes.contains(&b' ') && !is_password
    {
        return 0.0;
    }
    let stats = TokenStats::of(bytes);
    let letters = stats.lower + stats.upper;
    let classes = [stats.lower, stats.upper, stats.digits, stats.other];
    let classes = classes.iter().filter(|c| **c > 0).count();
    // `user.name`, `kebab-case-words` and `snake_case_words` are identifiers, also with a number.
    let joined = bytes
        .iter()
        .any(|b| matches!(b, b'_' | b'-' | b'.' | b':' | b'/'));
    let word = bytes
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':' | b'/'));
    // `userInput2` is an identifier; `Password1` is a password that people choose.
    let camel_case = bytes[1..].iter().any(u8::is_ascii_uppercase);
    // `ERROR_CODE_64` is a constant in source code.
    let constant = stats.lower == 0 && bytes.contains(&b'_') && letters >= 4;
    let is_identifier = constant && word
        || word
            && stats.longest_word >= 4
            && match is_password {
                // Passwords often contain one or two digits, so only joined words are an
                // identifier.
                true => stats.digits <= 1 && (joined || (!quoted && camel_case)),
                false => stats.digits <= 2,
            };
    if is_password {
        let strong = classes >= 3 && stats.digits > 0 && bytes.len() >= 8 && !bytes.contains(&b' ');
        let plain = classes >= 2 && stats.digits > 0 && letters > 0 && !bytes.contains(&b' ');
        return match (strong && !is_identifier, plain && !is_identifier) {
            (true, _) => 0.85,
            (false, true) if quoted || bytes.len() >= 7 => 0.6,
            _ => 0.3,
        };
    }
    let random = stats.digits >= 2
        && letters >= 2
        && bytes.len() >= 16
        && stats.entropy >= 3.0
        && stats.longest_word <= 8;
    match random && !is_identifier {
        true if stats.class_changes >= 0.25 => 0.85,
        true => 0.5,
        false => 0.2,
    }
}

#[cfg(test)]
mod tests {
    use crate::{ScrubConfig, Scrubber, cases};

    #[test]
    fn labelled_passwords_are_found_and_code_about_them_is_not() {
        cases::check(
            "PASSWORD",
            &[
                ("password: Tr0ub4dor&3", "Tr0ub4dor&3"),
                ("DB_PASSWORD=hunter2hunter2", "hunter2hunter2"),
                (r#""password": "c0rrect-h0rse""#, "c0rrect-h0rse"),
                ("the password is hunter42!", "hunter42"),
                ("pwd='p4ssw0rd!'", "p4ssw0rd!"),
                ("contraseña: cl4veSecr3ta", "cl4veSecr3ta"),
                ("password: Pa$$w0rd", "Pa$$w0rd"),
                ("DB_PASSWORD=Xy$9kLm2", "Xy$9kLm2"),
                ("password: Password1", "Password1"),
                ("pwd=Passw0rd", "Passw0rd"),
                ("DB_PASS=s3cr3tpw1", "s3cr3tpw1"),
                ("SMTP_PASS=s3cr3tpw1", "s3cr3tpw1"),
                (r#"{"user":"x","pass":"hunter2"}"#, "hunter2"),
                ("mysql --password hunter22 db", "hunter22"),
                ("**Password:** hunter22", "hunter22"),
            ],
            &[
                "DB_PASSWORD=$DB_PASS2",
                "password=$(pass show db1)",
                "password: prefix-${PASSWORD2}",
                "password = userInput2",
                "bypass: s3cr3tpw1",
                "user@pass:example2.com:1234",
                "pass_rate=s3cr3tpw1",
                "in the second pass: s3cr3tpw1",
                "mysql --password <password1>",
                "the option password hunter22",
                "Password*: required",
                "password: string",
                "password = getPassword()",
                "password: ${PASSWORD}",
                "const password = req.body.password;",
                "password is required",
                "Password: ********",
                "passwordField: 'input-2'",
                "type Password = Branded<string>",
            ],
        );
    }

    #[test]
    fn the_name_in_a_pair_is_the_label_of_its_value() {
        cases::check(
            "PASSWORD",
            &[
                (
                    "- name: DB_PASSWORD\n          value: hunter22x\n",
                    "hunter22x",
                ),
                (r#"<input type="password" value="hunter22x">"#, "hunter22x"),
                (r#"{"name":"DB_PASSWORD","value":"hunter22x"}"#, "hunter22x"),
            ],
            &[
                "- name: DB_PASSWORD\n  valueFrom: secret2key",
                "the password values are hunter22x",
                "{label: 'Password', value: 'password'}",
                "name: DB_PASSWORD\nname: OTHER\nvalue: hunter22x",
            ],
        );
        cases::check(
            "CREDENTIAL",
            &[(
                r#"<add key="ApiKey" value="8f2b7c1d9e0a4b6c8d7e" />"#,
                "8f2b7c1d9e0a4b6c8d7e",
            )],
            &[r#"<add key="ApiKey" value="see-the-vault-2" />"#],
        );
    }

    #[test]
    fn labelled_keys_are_found_and_names_are_not() {
        cases::check(
            "CREDENTIAL",
            &[
                ("api_key = 8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d9e0a4b6c8d7e"),
                (
                    "Authorization: Bearer a1B2c3D4e5F6g7H8i9J0",
                    "a1B2c3D4e5F6g7H8i9J0",
                ),
                (
                    r#"{"client_secret":"Zx9-qW3_eR7.tY1uI5oP"}"#,
                    "Zx9-qW3_eR7.tY1uI5oP",
                ),
                (
                    "AWS Secret Key: 8f2b7c1d9e0a4b6c8d7e",
                    "8f2b7c1d9e0a4b6c8d7e",
                ),
                ("Access Key: 8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d9e0a4b6c8d7e"),
                ("cli --token 8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d9e0a4b6c8d7e"),
                ("**API Key**: 8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d9e0a4b6c8d7e"),
                ("my API key is 8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d9e0a4b6c8d7e"),
                (
                    "Authorization: Token 9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
                    "9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
                ),
                ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
                ("Cookie: PHPSESSID=298zf09hf012fh2", "298zf09hf012fh2"),
                (
                    "Cookie: theme=light; session=f3a9c1d2e4b5a6978877",
                    "f3a9c1d2e4b5a6978877",
                ),
                (
                    "Set-Cookie: id=a3fWa1b2c3; Domain=s3.example.com; Path=/v1/users22",
                    "a3fWa1b2c3",
                ),
            ],
            &[
                "token: 'eof'",
                "tokenizer: a1B2c3D4e5F6g7H8i9J0",
                "apiKey: options.apiKey",
                "secret: process.env.SECRET_1234567890ab",
                "access_token: null",
                "the API key is stored in 2 places",
                "Authorization: Basic realm",
                "Authorization: required since 2021",
                "basic data and usage: x",
                "Cookie: theme=light; lang=en; n=12345678",
                "cookie = getCookie('name1234')",
                "token = next_token_2_from_stream",
                r#"{"nextPageToken":"CAUQAA12aBcD34eFgH"}"#,
                "NextToken: CAUQAA12aBcD34eFgH",
                "sync_token=CAUQAA12aBcD34eFgH",
                "continuation-token: CAUQAA12aBcD34eFgH",
            ],
        );
    }

    #[test]
    fn below_a_json_key_the_whole_value_is_the_secret() {
        let scrubber = Scrubber::new(&ScrubConfig::default()).expect("a valid configuration");
        for (key, value) in [
            ("password", "correct horse battery 9"),
            ("passwd", "correct horse battery staple"),
            ("userPassword", "letmein"),
            ("api_key", "8f2b7c1d9e0a4b6c8d7e"),
            ("access_token", "CAUQAA12aBcD34eFgH"),
            ("asyncToken", "CAUQAA12aBcD34eFgH"),
            ("password", "$tr0ngP@ss"),
            ("password", "@dmin1234"),
            ("password", "%k9Lq!2x"),
            ("password", "/S3cret!x"),
            ("pass", "hunter2"),
            (
                "Authorization",
                "Token 9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
            ),
            ("Authorization", "Basic dXNlcjpwYXNz"),
            ("Cookie", "theme=light; session=f3a9c1d2e4b5a6978877"),
        ] {
            assert_eq!(scrubber.find(value, Some(key)).len(), 1, "{key}");
        }
        for (key, value) in [
            ("password", "string"),
            ("password", "the one you chose"),
            ("token", "next"),
            ("nextPageToken", "CAUQAA12aBcD34eFgH"),
            ("NextToken", "q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4"),
            ("sync_token", "q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4"),
            ("continuation_token", "q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4"),
            ("secret", "it is not here"),
            ("password", "$DB_PASSWORD2"),
            ("password", "${password2}"),
            ("password", "%PASSWORD1%"),
            ("password", "%(password1)s"),
            ("password", "/run/secrets/db1"),
            ("password", "@password"),
            ("pass", "all of them"),
            ("pass", "string"),
            ("Cookie", "theme=light; lang=en"),
        ] {
            assert!(scrubber.find(value, Some(key)).is_empty(), "{key}");
        }
    }
}
