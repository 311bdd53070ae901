//! Where the value of a label begins: after a separator, as an argument, in the element of an XML
//! document, in the next cell of a table, or after a verb.

use std::ops::Range;

use super::label::Label;
use super::value;
use crate::boundary::is_word;
use crate::scan::Scan;

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

/// Where a value begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueStart {
    pub(super) start: usize,
    /// The value is the text of an XML element, which ends at the next `<`.
    pub(super) is_element: bool,
}

impl ValueStart {
    fn text(start: usize) -> Self {
        Self {
            start,
            is_element: false,
        }
    }
}

/// The start of the value. A label inside a longer name counts (`DB_PASSWORD`), one that only
/// begins a word (`tokenizer`) does not.
pub(super) fn value_start(scan: &Scan<'_>, label: Label, hit: &Range<usize>) -> Option<ValueStart> {
    if label == Label::Scheme {
        let header = scan.before(hit.start).is_ascii_alphabetic();
        return (!header).then(|| ValueStart::text(scan.run(hit.end, |b| b == b' ')));
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
    if let Some(value) = element_value(scan, hit.start, name_end) {
        return Some(value);
    }
    // `Token::Decimal128` is a path.
    if scan.bytes[name_end..].starts_with(b"::") && is_word(scan.at(name_end + 2)) {
        let end = scan.run_at_most(name_end + 2, MAX_NAME_BYTES, is_word);
        let segment = scan.text.get(name_end + 2..end)?;
        if !value::is_strong(segment) && !value::is_random_key(segment) {
            return None;
        }
    }
    let is_whole = SUFFIXES.contains(&rest);
    let argument = || argument(scan, label, name_end).filter(|_| is_whole);
    if let Some(value) = scan
        .value_after(name_end)
        .or_else(|| paired_value(scan, name_end))
        .or_else(argument)
        .or_else(|| cell(scan, name_end))
        .or_else(|| alternative(scan, name_end))
    {
        let value = past_type(scan, value);
        return Some(ValueStart::text(default_value(scan, label, value)));
    }
    if is_option(scan, hit.start, name_end) {
        let quote = scan.run_at_most(name_end + 1, 1, |b| matches!(b, b'"' | b'\''));
        return Some(ValueStart::text(quote));
    }
    let rest = scan.text.get(name_end..)?;
    // `ALTER USER jo PASSWORD 'hunter2'`
    if label == Label::Password && (rest.starts_with(" '") || rest.starts_with(" \"")) {
        return Some(ValueStart::text(name_end + 2));
    }
    // `API token - '8f2b7c1d9e0a4b6c8d7e'`
    if rest.starts_with(" - '") || rest.starts_with(" - \"") {
        return Some(ValueStart::text(name_end + 4));
    }
    // `the password is hunter2`
    let verb = [" is: ", " is ", " are ", " was ", " ist ", " es ", " est "]
        .into_iter()
        .find(|v| rest.starts_with(v))?;
    let quote = scan.run(name_end + verb.len(), |b| matches!(b, b'"' | b'\'' | b'`'));
    Some(ValueStart::text(quote))
}

/// What precedes the string that replaces a missing value.
const ALTERNATIVES: [&str; 3] = [" or ", " || ", " ?? "];

/// The start of a string after the call or index that reads the label: `os.environ.get("PASSWORD") or "hunter2"`.
fn alternative(scan: &Scan<'_>, name_end: usize) -> Option<usize> {
    let end = scan.run_at_most(name_end, 4, |b| {
        matches!(b, b'"' | b'\'' | b'`' | b')' | b']')
    });
    let rest = &scan.bytes[end..];
    let operator = ALTERNATIVES
        .iter()
        .find(|o| rest.starts_with(o.as_bytes()))?;
    let quote = end + operator.len();
    matches!(scan.at(quote), b'"' | b'\'' | b'`').then_some(quote + 1)
}

/// The start of a string that replaces a missing value: `os.environ.get("PASSWORD") or "hunter2"`; `value`
/// if there is none, or if what it replaces is a secret itself: `password: Xk9mQ2vLp77 or "ask Bob"`.
fn default_value(scan: &Scan<'_>, label: Label, value: usize) -> usize {
    const REACH: usize = 120;
    if matches!(scan.before(value), b'"' | b'\'' | b'`') {
        return value;
    }
    let end = scan.run_at_most(value, REACH, |b| !matches!(b, b'\n' | b';'));
    let line = &scan.bytes[value..end];
    let after = |operator: &&str| {
        let before = memchr::memmem::find(line, operator.as_bytes())?;
        let count = |bracket: u8| line[..before].iter().filter(|b| **b == bracket).count();
        let at = value + before + operator.len();
        // Within a call it is an argument.
        if count(b'(') != count(b')') {
            return None;
        }
        let replaced = scan.text.get(value..value + before)?.trim();
        let is_string = matches!(scan.at(at), b'"' | b'\'' | b'`');
        (is_string && is_reference(replaced, label)).then_some(at + 1)
    };
    ALTERNATIVES.iter().find_map(after).unwrap_or(value)
}

/// Whether what a default replaces is an expression that reads a value, and no secret.
fn is_reference(text: &str, label: Label) -> bool {
    const ENVIRONMENT: [&str; 3] = ["process.env", "os.environ", "ENV"];
    let variable =
        || !text.bytes().any(|b| b.is_ascii_digit()) && value::confidence(text, label, false) < 0.5;
    text.ends_with([')', ']'])
        || ENVIRONMENT.iter().any(|name| text.starts_with(name))
        || variable()
}

/// The start of the text in an XML element whose name is the label: `<password>hunter2</password>`,
/// `<apiToken encrypted="no">` and the text on the next line.
fn element_value(scan: &Scan<'_>, label: usize, name_end: usize) -> Option<ValueStart> {
    const MAX_ATTRIBUTES: usize = 80;
    const MAX_GAP: usize = 40;
    if !matches!(scan.at(name_end), b'>' | b' ') {
        return None;
    }
    let part = |b: u8| is_word(b) || matches!(b, b'_' | b'-' | b'.' | b':');
    let name = scan.run_back(label, part);
    let end = scan.run_at_most(name_end, MAX_ATTRIBUTES, |b| {
        !matches!(b, b'<' | b'>' | b'\n')
    });
    let opens = scan.before(name) == b'<' && scan.at(end) == b'>' && scan.before(end) != b'/';
    if !opens {
        return None;
    }
    let start = scan.run_at_most(end + 1, MAX_GAP, |b| b.is_ascii_whitespace());
    let is_empty = matches!(scan.at(start), b'<' | 0);
    (!is_empty).then_some(ValueStart {
        start,
        is_element: true,
    })
}

/// The start of the next cell of a table: `| Password | hunter2 |`.
fn cell(scan: &Scan<'_>, name_end: usize) -> Option<usize> {
    let border = scan.run_at_most(name_end, 24, |b| matches!(b, b' ' | b'`' | b'*'));
    if scan.at(border) != b'|' || scan.at(border + 1) == b'|' {
        return None;
    }
    Some(scan.run_at_most(border + 1, 24, |b| matches!(b, b' ' | b'`' | b'*')))
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
fn argument(scan: &Scan<'_>, label: Label, name_end: usize) -> Option<usize> {
    let is_quote = |b: u8| matches!(b, b'"' | b'\'' | b'`');
    // Without the bracket of a call before it, it is a list of words.
    let name = scan.run_back(name_end, |b| is_word(b) || matches!(b, b'_' | b'-'));
    let spaced = scan.run_back(name.saturating_sub(1), |b| b == b' ');
    let called = is_quote(scan.before(name)) && scan.before(spaced) == b'(';
    let comma = scan.run_at_most(name_end + 1, 2, |b| b == b' ');
    let opening = if called && is_quote(scan.at(name_end)) && scan.at(comma) == b',' {
        scan.run_at_most(comma + 1, 3, |b| b == b' ')
    } else if scan.at(name_end) == b'(' && is_only_argument(scan, label, name_end + 1) {
        name_end + 1
    } else {
        return None;
    };
    is_quote(scan.at(opening)).then_some(opening + 1)
}

/// Whether the string at `quote` is the only argument of a call: of several, it is not known which one is
/// the secret, unless the first has the form of one.
fn is_only_argument(scan: &Scan<'_>, label: Label, quote: usize) -> bool {
    const MAX_ARGUMENT: usize = 256;
    const SURE: f32 = 0.8;
    let mark = scan.at(quote);
    let end = scan.run_at_most(quote + 1, MAX_ARGUMENT, |b| b != mark && b != b'\n');
    let argument = || scan.text.get(quote + 1..end).unwrap_or_default();
    scan.at(end + 1) != b',' || value::confidence(argument(), label, true) >= SURE
}
