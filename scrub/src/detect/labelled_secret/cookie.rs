//! Cookies: the values that could be a session id.

use super::label::CREDENTIAL;
use super::value::{is_code, is_name};
use crate::detect::sample_value::is_sample;
use crate::scan::Scan;

/// Adds the value of each cookie that could be a session id, and returns whether there were any
/// cookies.
pub(super) fn check_cookies(scan: &mut Scan<'_>, start: usize) -> bool {
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
        && !is_name(value)
        && !is_code(value)
        && !is_sample(value.as_bytes())
}
