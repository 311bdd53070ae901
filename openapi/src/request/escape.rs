//! Percent-encoding.

use std::fmt::Write;

/// The characters of RFC 3986 that separate parts of an address.
const RESERVED: &str = ":/?#[]@!$&'()*+,;=";

/// Percent-encodes everything but letters, digits, `-`, `.`, `_` and `~`, and the characters of `kept`.
pub fn escape_except(text: &str, kept: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "-._~".contains(c) || kept.contains(c) {
            escaped.push(c);
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// A value of a query.
pub fn escape(text: &str, allow_reserved: bool) -> String {
    match allow_reserved {
        // Those that would end the value or the query are encoded all the same.
        true => escape_except(text, ":/?[]@!$'()*,;"),
        false => escape_except(text, ""),
    }
}

/// A text of `application/x-www-form-urlencoded`.
pub fn escape_form(text: &str) -> String {
    escape_except(text, " ").replace(' ', "+")
}

/// A part of a path. With `allow_reserved` it may have several segments.
pub fn escape_path(text: &str, allow_reserved: bool) -> String {
    let kept: String = RESERVED.chars().filter(|c| !"?#[]".contains(*c)).collect();
    match allow_reserved {
        true => escape_except(text, &kept),
        false => escape_except(text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(escape("a/b c&ä", false), "a%2Fb%20c%26%C3%A4");
        assert_eq!(escape("a/b?c&d=#+", true), "a/b?c%26d%3D%23%2B");
        assert_eq!(escape_form("a b&ü+"), "a+b%26%C3%BC%2B");
        assert_eq!(escape_path("a/b?c", true), "a/b%3Fc");
        assert_eq!(escape_path("../x", false), "..%2Fx");
    }
}
