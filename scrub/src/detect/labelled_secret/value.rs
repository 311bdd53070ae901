//! Values after a label: whether they are a secret, or code and text about one.

use super::label::Label;
use crate::decode;
use crate::detect::randomness::{TokenStats, is_hex, is_uuid};
use crate::detect::sample_value::{is_sample, is_sample_key};

/// What a value is that decodes from base64 to `user:pass`, as the scheme `Basic` sends it: `dXNlcjpwYXNz`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BasicLogin {
    None,
    Sample,
    Login,
}

pub(super) fn basic_login(value: &str) -> BasicLogin {
    let text = (value.len() >= 8)
        .then(|| decode::decode_short(value))
        .flatten();
    match text.as_deref().and_then(|text| text.split_once(':')) {
        None => BasicLogin::None,
        Some((user, password)) if is_sample_login(user, password) => BasicLogin::Sample,
        Some(_) => BasicLogin::Login,
    }
}

/// The logins of RFC 7617 and of documentation.
fn is_sample_login(user: &str, password: &str) -> bool {
    let sesame = user == "Aladdin" && password.replace(' ', "") == "opensesame";
    let repeated =
        |text: &str| text.len() <= 3 && text.bytes().all(|b| Some(b) == text.bytes().next());
    sesame
        || repeated(user) && repeated(password)
        || password.is_empty() && is_sample(user.as_bytes())
}

/// Whether a value that begins with a symbol refers to a secret (`$DB_PASSWORD`, `%PASSWORD%`,
/// `@password`, `/run/secrets/db`) instead of being one (`$tr0ngP@ss`).
pub(super) fn is_variable(value: &str) -> bool {
    let Some(rest) = value.strip_prefix(['$', '%', '*', '/', '@', '&', '(']) else {
        return value.starts_with('\\');
    };
    let rest = rest.strip_suffix('%').unwrap_or(rest);
    let named = rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let constant = named && !rest.bytes().any(|b| b.is_ascii_lowercase());
    constant || rest.contains('/') || !rest.bytes().any(|b| b.is_ascii_digit())
}

/// `correct horse battery staple`, and not a sentence about a password.
pub(super) fn is_passphrase(value: &str) -> bool {
    const SENTENCE: [&str; 14] = [
        "the", "a", "an", "your", "my", "of", "for", "to", "is", "must", "with", "user",
        "password", "new",
    ];
    let mut words = value.split(' ');
    words.all(|word| word.bytes().all(|b| b.is_ascii_lowercase()) && !SENTENCE.contains(&word))
}

/// Whether the value is code that refers to a secret: a variable, call, template, placeholder or
/// path.
pub(super) fn is_code(value: &str) -> bool {
    let prefixes = [
        "{", "<", "%(", "[", "process.", "env.", "os.", "config", "self.", "this.", "http://",
        "https://", "./", "var(", "#{", "$(",
    ];
    let fragments = ["${", "{{", "...", "()", "=>", "://", "<%", "***"];
    let path = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':');
    value.is_empty()
        || value.contains("::") && value.bytes().all(path)
        || prefixes.iter().any(|p| value.starts_with(p))
        || fragments.iter().any(|f| value.contains(f))
        || (value.contains('(') && value.contains(')'))
        || is_sample(value.as_bytes())
}

/// Whether a value consists of words, as the name of something does: `OAUTH2_TOKEN`, `access_token_123`,
/// `test020_sealed.bc`.
pub(super) fn is_name(value: &str) -> bool {
    let bytes = value.as_bytes();
    let stats = TokenStats::of(bytes);
    let makeup = Makeup::of(bytes, &stats);
    is_constant(bytes, &stats, &makeup) || is_numbered_name(bytes, &stats, &makeup)
}

/// Words with one number of up to three digits; people put a year into a secret.
fn is_numbered_name(bytes: &[u8], stats: &TokenStats, makeup: &Makeup) -> bool {
    let first = bytes
        .iter()
        .position(u8::is_ascii_digit)
        .unwrap_or(bytes.len());
    let run = bytes[first..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    makeup.word && makeup.joined && stats.has_words() && stats.digits <= 3 && run == stats.digits
}

/// Whether a string in quotes has signs that neither words nor code have: `u@D7GXt)t>8d(LtH^`.
pub(super) fn is_random_literal(value: &str) -> bool {
    const TEMPLATES: [&str; 7] = ["${", "{{", "<%", "...", "***", "#{", "%("];
    let bytes = value.as_bytes();
    let stats = TokenStats::of(bytes);
    let classes = [stats.lower, stats.upper, stats.digits, stats.other];
    let mut signs: Vec<u8> = bytes
        .iter()
        .copied()
        .filter(|b| !b.is_ascii_alphanumeric())
        .collect();
    signs.sort_unstable();
    signs.dedup();
    (10..=128).contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_graphic)
        && classes.iter().all(|class| *class > 0)
        && stats.digits >= 2
        && signs.len() >= 3
        && stats.class_changes >= 0.4
        && !stats.has_words()
        && !TEMPLATES.iter().any(|t| value.contains(t))
        && !value.contains("://")
        && !is_sample_key(bytes)
}

/// Whether a word is a key by its form alone: mixed letters and digits without words, or many hexadecimal
/// digits.
pub(super) fn is_random_key(value: &str) -> bool {
    let bytes = value.as_bytes();
    let part =
        |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/' | b'=' | b'.');
    if !(16..=200).contains(&bytes.len()) || !bytes.iter().all(part) || bytes[0] == b'/' {
        return false;
    }
    let stats = TokenStats::of(bytes);
    let hex = bytes.iter().all(u8::is_ascii_hexdigit);
    let mixed = stats.class_changes >= 0.3 && stats.other * 6 <= bytes.len();
    stats.digits >= 3
        && stats.lower + stats.upper >= 3
        && (hex && bytes.len() >= 32 || !hex && mixed)
        && !is_uuid(bytes)
        && (hex || !stats.has_words())
        && !is_sample_key(bytes)
}

/// The confidence in a value after a label.
pub(super) fn confidence(value: &str, label: Label, quoted: bool) -> f32 {
    let bytes = value.as_bytes();
    let spaced = bytes.contains(&b' ');
    if !(6..=512).contains(&bytes.len()) || !value.is_ascii() || is_sample(bytes) {
        return 0.0;
    }
    let stats = TokenStats::of(bytes);
    if label.is_password() {
        password_confidence(bytes, &stats, quoted)
    } else if spaced {
        0.0
    } else {
        credential_confidence(bytes, &stats, label)
    }
}

/// What a value consists of, besides its statistics.
struct Makeup {
    /// Letters, digits and the signs that join words.
    word: bool,
    /// Words joined by such signs.
    joined: bool,
    /// How many of lower case, upper case, digits and signs occur.
    classes: usize,
}

impl Makeup {
    fn of(bytes: &[u8], stats: &TokenStats) -> Self {
        let joins = |b: &u8| matches!(b, b'_' | b'-' | b'.' | b':' | b'/');
        let classes = [stats.lower, stats.upper, stats.digits, stats.other];
        Self {
            word: bytes.iter().all(|b| b.is_ascii_alphanumeric() || joins(b)),
            joined: bytes.iter().any(joins),
            classes: classes.iter().filter(|c| **c > 0).count(),
        }
    }
}

/// `ERROR_CODE_64` is a constant in source code.
fn is_constant(bytes: &[u8], stats: &TokenStats, makeup: &Makeup) -> bool {
    let letters = stats.lower + stats.upper;
    makeup.word && stats.lower == 0 && bytes.contains(&b'_') && letters >= 4 && stats.digits <= 4
}

fn password_confidence(bytes: &[u8], stats: &TokenStats, quoted: bool) -> f32 {
    let makeup = Makeup::of(bytes, stats);
    let (spaced, letters) = (bytes.contains(&b' '), stats.lower + stats.upper);
    // `userInput2` is an identifier; `Password1` is a password that people choose.
    let camel_case = bytes[1..].iter().any(u8::is_ascii_uppercase);
    // Passwords often contain one or two digits, so only joined words are an identifier.
    let is_identifier = makeup.word
        && stats.longest_word >= 4
        && stats.digits <= 1
        && (makeup.joined || (!quoted && camel_case));
    let number = bytes.strip_prefix(b"0x").is_some_and(is_hex_number) || is_typed_number(bytes);
    if spaced || number || is_identifier || is_constant(bytes, stats, &makeup) {
        return 0.3;
    }
    let strong = makeup.classes >= 3 && stats.digits > 0 && bytes.len() >= 8;
    // `P@ssWord!`: no digit, and signs that join no words.
    let signs = quoted
        && !makeup.word
        && bytes.len() >= 8
        && (makeup.classes >= 3 || has_many_signs(bytes));
    let plain = makeup.classes >= 2 && stats.digits > 0 && letters > 0;
    // `letmein`: a word of a person's choice, if the label is followed by a string.
    let bare = bytes.trim_ascii_end();
    let emphasis = bare
        .iter()
        .rev()
        .take_while(|b| b"!#$%&*@^".contains(b))
        .count();
    let word = quoted
        && letters + emphasis == bytes.len()
        && letters >= 4
        && !is_message_word(&bytes[..letters]);
    match (strong, signs || word, plain) {
        (true, _, _) => 0.85,
        (false, true, _) => 0.6,
        (false, false, true) if quoted || bytes.len() >= 7 => 0.6,
        _ => 0.3,
    }
}

/// Whether a value is a password by its form alone: characters of all classes, or of three that form
/// no words.
pub(super) fn is_strong(value: &str) -> bool {
    let bytes = value.as_bytes();
    if !(8..=64).contains(&bytes.len()) || !value.is_ascii() || is_sample(bytes) {
        return false;
    }
    let stats = TokenStats::of(bytes);
    let makeup = Makeup::of(bytes, &stats);
    let path = bytes
        .iter()
        .any(|b| matches!(b, b'/' | b'\\' | b'(' | b'<' | b'{' | b'['));
    stats.digits > 0
        && !path
        && match makeup.classes {
            4 => !makeup.word || !stats.has_words(),
            3 => stats.lower > 0 && stats.upper > 0 && !stats.has_words(),
            _ => false,
        }
}

/// `0xab19d82e`. Letters of both cases are not how a number is written.
fn is_hex_number(digits: &[u8]) -> bool {
    let mixed =
        digits.iter().any(u8::is_ascii_lowercase) && digits.iter().any(u8::is_ascii_uppercase);
    is_hex(digits) && !mixed
}

/// `65535i32`.
fn is_typed_number(bytes: &[u8]) -> bool {
    const TYPES: [&[u8]; 10] = [
        b"i8", b"i16", b"i32", b"i64", b"u8", b"u16", b"u32", b"u64", b"isize", b"usize",
    ];
    let rest = TYPES.iter().find_map(|name| bytes.strip_suffix(*name));
    rest.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
}

/// Whether a value has at least three kinds of signs, none of which code or a pattern has.
fn has_many_signs(bytes: &[u8]) -> bool {
    let mut signs: Vec<u8> = bytes
        .iter()
        .copied()
        .filter(|b| !b.is_ascii_alphanumeric())
        .collect();
    signs.sort_unstable();
    signs.dedup();
    signs.len() >= 3
        && signs.iter().all(|b| b"!@#$%^&*-_+=?~".contains(b))
        && bytes.iter().any(u8::is_ascii_alphabetic)
}

/// Words that stand after `password` in forms, messages and code.
fn is_message_word(bytes: &[u8]) -> bool {
    const PARTS: [&str; 40] = [
        "pass",
        "word",
        "wort",
        "senha",
        "contras",
        "require",
        "invalid",
        "incorrect",
        "missing",
        "hidden",
        "visible",
        "protect",
        "reset",
        "forgot",
        "change",
        "login",
        "signin",
        "submit",
        "confirm",
        "secret",
        "token",
        "string",
        "number",
        "update",
        "create",
        "enter",
        "wrong",
        "weak",
        "strong",
        "current",
        "bcrypt",
        "argon",
        "plain",
        "hash",
        "encrypt",
        "input",
        "field",
        "object",
        "option",
        "default",
    ];
    let lower = bytes.to_ascii_lowercase();
    let camel =
        bytes[1..].iter().any(u8::is_ascii_uppercase) && bytes.iter().any(u8::is_ascii_lowercase);
    let within = |part: &str| memchr::memmem::find(&lower, part.as_bytes()).is_some();
    camel || bytes.len() > 24 || PARTS.iter().any(|part| within(part))
}

/// A shorter key is a number or a name.
const MIN_CREDENTIAL: usize = 10;
/// A shorter key needs more than two digits.
const LONG_CREDENTIAL: usize = 16;

fn credential_confidence(bytes: &[u8], stats: &TokenStats, label: Label) -> f32 {
    let makeup = Makeup::of(bytes, stats);
    let letters = stats.lower + stats.upper;
    let is_key = label == Label::Key;
    // `user.name`, `kebab-case-words` and `snake_case_words` are identifiers, also with a number.
    let few_digits = stats.digits <= 2 || stats.digits * 8 < bytes.len();
    let is_identifier = makeup.word && stats.has_words() && few_digits;
    if is_sample_key(bytes) {
        return 0.0;
    }
    // `ZAQWS-XCDER-VBGTR-FRTGU`: groups of capitals and digits, as licences have.
    if is_grouped(bytes) && !stats.has_words() {
        return 0.6;
    }
    if is_identifier
        || is_numbered_name(bytes, stats, &makeup)
        || is_constant(bytes, stats, &makeup)
        || bytes.len() < MIN_CREDENTIAL
        || stats.entropy < 2.5
        || is_key && is_public_key(bytes, stats)
    {
        return 0.2;
    }
    let numbers = match bytes.len() {
        ..LONG_CREDENTIAL => {
            stats.digits >= 2 && letters >= 3 && makeup.classes >= 3
                || stats.digits >= 3 && letters >= 3
        }
        // Letters alone are random only if they are many.
        _ => stats.digits >= 2 && letters >= 2 || stats.pairs >= 10,
    };
    match numbers && !(stats.has_words() && stats.digits < 3) {
        true if stats.class_changes >= 0.25 => 0.85,
        true => 0.6,
        false => 0.2,
    }
}

/// Whether a value has at least four groups of three to six capitals and digits, all of one length.
fn is_grouped(bytes: &[u8]) -> bool {
    let mut groups = bytes.split(|b| *b == b'-');
    let first = groups.next().map_or(0, <[u8]>::len);
    let fits = |group: &[u8]| {
        group.len() == first
            && group
                .iter()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    };
    bytes.len() >= 15
        && (3..=6).contains(&first)
        && groups.clone().count() >= 3
        && groups.all(fits)
        && bytes.iter().any(u8::is_ascii_uppercase)
}

/// Whether the value of a name that ends in `key` is more likely an id, a digest or a path.
fn is_public_key(bytes: &[u8], stats: &TokenStats) -> bool {
    let hex = bytes.iter().all(u8::is_ascii_hexdigit);
    let signs = bytes
        .iter()
        .any(|b| matches!(b, b'.' | b':' | b'@' | b'{' | b'[' | b'<' | b'#' | b'$'));
    bytes.len() < 20
        || is_uuid(bytes)
        || signs
        || !hex && (stats.entropy < 3.0 || stats.has_words())
}
