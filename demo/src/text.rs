//! Text: counted and replaced.

use serde::{Deserialize, Serialize};

/// A replacement never makes a text longer than this.
const MAX_TEXT: usize = 4 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    text: String,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct Counted {
    lines: usize,
    words: usize,
    characters: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replace {
    text: String,
    find: String,
    replace: String,
}

pub fn count(wanted: &Count) -> Counted {
    Counted {
        lines: wanted.text.lines().count(),
        words: wanted.text.split_whitespace().count(),
        characters: wanted.text.chars().count(),
    }
}

pub fn replace(wanted: &Replace) -> Result<String, String> {
    let Replace {
        text,
        find,
        replace,
    } = wanted;
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
        let counted = count(&Count {
            text: "one two\nthr\u{e9}e\n".to_owned(),
        });
        assert_eq!(
            counted,
            Counted {
                lines: 2,
                words: 3,
                characters: 14
            }
        );
    }

    #[test]
    fn a_replacement_is_bounded() {
        let wanted = |find: &str, with: String| Replace {
            text: "a".repeat(1 << 20),
            find: find.to_owned(),
            replace: with,
        };
        assert!(replace(&wanted("a", "bbbbb".to_owned())).is_err());
        assert!(replace(&wanted("", "b".to_owned())).is_err());
        assert_eq!(
            replace(&wanted("a", "b".to_owned())).unwrap().len(),
            1 << 20
        );
    }
}
