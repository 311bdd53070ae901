//! Passwords and keys after a label: `password: …`, `"api_key": "…"`, `Bearer …`.

mod cookie;
mod label;
#[cfg(test)]
mod tests;
mod value;
mod value_start;

use std::ops::Range;

use super::sample_value::{is_sample, is_sample_key};
use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::scan::Scan;
use cookie::check_cookies;
use label::{CREDENTIAL, LABEL_TEXTS, LABELS, Label, PASSWORD};
use value_start::{loose_value_start, value_start};

use value::{BasicLogin, basic_login, confidence, is_code, is_passphrase, is_variable};

pub(super) static DETECTOR: Detector = Detector {
    name: "labelled_secret",
    kinds: || vec![PASSWORD, CREDENTIAL],
    default_policy: DefaultPolicy::OneWay,
    repeats: Repeats::SearchedIfDigits,
    triggers: &[Trigger::Literals(
        || LABEL_TEXTS,
        |scan, index, hit| check(scan, LABELS[index].1, hit),
    )],
};

/// Longer values are not secrets, and the bound limits the time for a text with many labels. It is
/// a little more than the longest secret.
const MAX_VALUE_BYTES: usize = 520;
/// The most placeholders within one value, for the same reason.
const MAX_PLACEHOLDERS: usize = 4;

fn check(scan: &mut Scan<'_>, label: Label, hit: Range<usize>) {
    // The separator after `pw` is a part of the literal, which is too short without it.
    let hit = match scan.text.get(hit.clone()) {
        Some(text) if label == Label::Pw => {
            hit.start..hit.start + text.trim_end_matches([':', '=', ' ']).len()
        }
        _ => hit,
    };
    let is_password = label.is_password();
    let kind = label.kind();
    let in_key = scan.in_key(hit.end);
    if label.means_other(scan, &hit) {
        return;
    }
    let Some(value) = value_start(scan, label, &hit) else {
        return check_loose(scan, label, &hit);
    };
    let start = value.start;
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
    if value.is_element {
        return check_element(scan, label, start);
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
    match basic_login(value) {
        BasicLogin::Login if !is_password => return scan.add(kind, start, end, 0.95),
        BasicLogin::Sample => return,
        _ => {}
    }
    // The border of a table's cell.
    let value = value.trim_end_matches('|');
    let end = start + value.len();
    let call = value.contains('(') || matches!(scan.at(end), b'(' | b'[' | b'{');
    let symbol = value.starts_with(['$', '%', '*', '/', '@', '&', '(', '\\']);
    // `list[1]` is an element.
    let element = value.contains('[') && scan.at(end) == b']';
    let literal = quoted && value::is_random_literal(value);
    if !literal && (symbol || !quoted && (call || element) || is_code(value)) {
        return;
    }
    // `ops_eyJzaWdu...`: the beginning of one, unless as much as there is could be a secret.
    let shortened =
        scan.bytes[end..].starts_with(b"...") || scan.bytes[end..].starts_with("…".as_bytes());
    let secret = match is_password {
        true => value::is_strong(value),
        false => value::is_random_key(value),
    };
    if shortened && !secret {
        return;
    }
    let mut confidence = confidence(value, label, quoted);
    if label == Label::Authorization && is_short_token(value) {
        confidence = confidence.max(0.6);
    }
    scan.add(kind, start, end, confidence);
}

/// The text of an XML element. Jenkins writes an encrypted value in braces.
fn check_element(scan: &mut Scan<'_>, label: Label, start: usize) {
    let end = scan.run_at_most(start, MAX_VALUE_BYTES, |b| b != b'<');
    let start = scan.skip_placeholders(start).min(end);
    let Some(value) = scan.text.get(start..end).map(str::trim_ascii_end) else {
        return;
    };
    let end = start + value.len();
    let braces = value.strip_prefix('{').and_then(|v| v.strip_suffix('}'));
    let encrypted = braces.filter(|v| !v.starts_with(['{', '$', '%']));
    if encrypted.is_some_and(|v| v.split(' ').any(value::is_random_key)) {
        return scan.add(label.kind(), start, end, 0.85);
    }
    let symbol = value.starts_with(['$', '%', '*', '/', '@', '&', '(', '\\']);
    if !symbol && !is_code(value) {
        let confidence = confidence(value, label, true);
        scan.add(label.kind(), start, end, confidence);
    }
}

/// A strong password or a random key after a label, without the separator of a setting.
fn check_loose(scan: &mut Scan<'_>, label: Label, hit: &Range<usize>) {
    let is_key = matches!(label, Label::Credential | Label::Token);
    if !label.is_password() && !is_key || scan.in_key(hit.end) {
        return;
    }
    let Some(start) = loose_value_start(scan, hit) else {
        return;
    };
    let end = unquoted_end(scan, start);
    let Some(value) = scan.text.get(start..end) else {
        return;
    };
    let value = value.trim_end_matches(['.', ',', '!', '?', ':']);
    let strong = match is_key {
        true => value::is_random_key(value),
        false => value::is_strong(value) && !is_variable(value),
    };
    if strong && !is_code(value) {
        scan.add(label.kind(), start, start + value.len(), 0.6);
    }
}

/// Whether the credentials of an `Authorization` header are a token, which may be short.
fn is_short_token(value: &str) -> bool {
    if value::is_name(value) {
        return false;
    }
    let letter = value.bytes().any(|b| b.is_ascii_alphabetic());
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    value.len() >= 8 && !value.contains(' ') && letter && digit && !is_sample_key(value.as_bytes())
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
        spaces == 0 && confidence(value, label, true) >= 0.5
    } else if label.is_password() {
        let phrase = letters_only && spaces > 0;
        let fits = if phrase {
            is_passphrase(value)
        } else {
            spaces <= 3
        };
        value.len() >= 4 && fits && !is_sample(value.as_bytes())
    } else {
        let random = value.len() >= 8 && spaces <= 1 && !letters_only;
        random && confidence(value, label, true) >= 0.5 || basic_login(value) == BasicLogin::Login
    };
    if is_secret && !is_variable(value) && !is_code(value) {
        scan.add(label.kind(), start, end, 0.9);
    }
}
