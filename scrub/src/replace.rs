//! Inserts replacements into a text without breaking JSON in it.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use serde::de::IgnoredAny;

/// The text with each range replaced. The ranges ascend and do not overlap.
pub(crate) fn replace(text: &str, with: &[(Range<usize>, String)]) -> String {
    let quoting = Quoting::new(text);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, replacement) in with {
        out.push_str(&text[at..range.start]);
        let quote = quoting.of(range);
        out.push_str(&quote);
        out.push_str(replacement);
        out.push_str(&quote);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The quotes around replacements. In JSON, a number that becomes a placeholder needs quotes, and
/// inside a JSON string those need as many backslashes as their neighbours have.
struct Quoting<'t> {
    text: &'t str,
    is_json: OnceCell<bool>,
    /// The last line that was checked, and whether it is JSON.
    line: RefCell<(Range<usize>, bool)>,
}

impl<'t> Quoting<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            is_json: OnceCell::new(),
            line: RefCell::new((0..0, false)),
        }
    }

    fn of(&self, range: &Range<usize>) -> String {
        let bytes = self.text.as_bytes();
        let space = |b: &&u8| !b.is_ascii_whitespace();
        let before = bytes[..range.start].iter().rfind(space);
        let after = bytes[range.end..].iter().find(space);
        let is_number = matches!(before, Some(b':' | b',' | b'['))
            && matches!(after, Some(b',' | b'}' | b']'))
            && bytes[range.clone()]
                .iter()
                .all(|b| b.is_ascii_digit() || *b == b'-');
        if !is_number || !self.in_json(range) {
            return String::new();
        }
        // The previous quote is usually a key's; a long list of numbers may have none nearby.
        let near = range.start.saturating_sub(4096);
        match memchr::memrchr(b'"', &bytes[near..range.start]).map(|i| near + i) {
            Some(quote) => {
                let from = bytes[..quote]
                    .iter()
                    .rposition(|b| *b != b'\\')
                    .map_or(0, |i| i + 1);
                self.text[from..=quote].to_owned()
            }
            None => "\"".to_owned(),
        }
    }

    /// Whether the text, or the line of the range, is JSON.
    fn in_json(&self, range: &Range<usize>) -> bool {
        if *self.is_json.get_or_init(|| is_json(self.text)) {
            return true;
        }
        let mut known = self.line.borrow_mut();
        if !known.0.contains(&range.start) {
            let start = self.text[..range.start].rfind('\n').map_or(0, |i| i + 1);
            let end = self.text[range.end..]
                .find('\n')
                .map_or(self.text.len(), |i| range.end + i);
            *known = (start..end, is_json(&self.text[start..end]));
        }
        known.1
    }
}

/// Whether replacing this value could break JSON around it: it contains a structural character of
/// JSON, or it may be a number without quotes. A value with letters is always inside a string.
pub(crate) fn may_break_json(value: &str) -> bool {
    let structural = |b: u8| matches!(b, b'"' | b'\\' | b',' | b':' | b'{' | b'}' | b'[' | b']');
    !value.bytes().any(|b| b.is_ascii_alphabetic()) || value.bytes().any(structural)
}

/// Whether a text is a JSON object or array.
pub(crate) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number_replaced(text: &str) -> String {
        let start = text.find('4').expect("a number");
        let end = start + text[start..].bytes().take_while(u8::is_ascii_digit).count();
        replace(text, &[(start..end, "[X_1]".to_owned())])
    }

    #[test]
    fn a_number_in_json_becomes_a_string() {
        assert_eq!(number_replaced(r#"{"a": 4111}"#), r#"{"a": "[X_1]"}"#);
        assert_eq!(number_replaced(r#"[4111, 2]"#), r#"["[X_1]", 2]"#);
        assert_eq!(
            number_replaced(r#"{"a":"{\"b\":4111}"}"#),
            r#"{"a":"{\"b\":\"[X_1]\"}"}"#
        );
        assert_eq!(
            number_replaced("{\"a\":1}\n{\"a\":4111}"),
            "{\"a\":1}\n{\"a\":\"[X_1]\"}"
        );
    }

    #[test]
    fn a_number_in_prose_or_in_a_string_stays_without_quotes() {
        assert_eq!(number_replaced("pay [4111, now"), "pay [[X_1], now");
        assert_eq!(number_replaced(r#"{"a": "4111"}"#), r#"{"a": "[X_1]"}"#);
    }
}
