//! The text tools: count and replace.

use serde::{Deserialize, Serialize};

/// Size limit of the result of a replacement in bytes.
const MAX_TEXT: usize = 4 << 20;

/// Arguments of `count_text`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountText {
    text: String,
}

/// Result of `count_text`.
#[derive(Debug, PartialEq, Serialize)]
pub struct TextCounts {
    lines: usize,
    words: usize,
    characters: usize,
}

/// Arguments of `replace_text`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaceText {
    text: String,
    find: String,
    replace: String,
}

/// Runs `count_text`.
pub fn count(request: &CountText) -> TextCounts {
    TextCounts {
        lines: request.text.lines().count(),
        words: request.text.split_whitespace().count(),
        characters: request.text.chars().count(),
    }
}

/// Runs `replace_text`.
pub fn replace(request: &ReplaceText) -> Result<String, String> {
    let ReplaceText {
        text,
        find,
        replace,
    } = request;
    if find.is_empty() {
        return Err("`find` is empty; name the text to replace".to_owned());
    }
    let grown = text.matches(find.as_str()).count() * replace.len();
    if text.len() + grown > MAX_TEXT {
        return Err(format!(
            "the result would be larger than {} MiB",
            MAX_TEXT >> 20
        ));
    }
    Ok(text.replace(find.as_str(), replace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_counted_as_people_count_it() {
        let counted = count(&CountText {
            text: "one two\nthr\u{e9}e\n".to_owned(),
        });
        assert_eq!(
            counted,
            TextCounts {
                lines: 2,
                words: 3,
                characters: 14
            }
        );
    }

    #[test]
    fn a_replacement_is_bounded() {
        let request = |find: &str, with: String| ReplaceText {
            text: "a".repeat(1 << 20),
            find: find.to_owned(),
            replace: with,
        };
        assert!(replace(&request("a", "bbbbb".to_owned())).is_err());
        assert!(replace(&request("", "b".to_owned())).is_err());
        assert_eq!(
            replace(&request("a", "b".to_owned())).unwrap().len(),
            1 << 20
        );
    }
}
