//! Text of servers and scripts in a question to a person: what cannot be seen is written out.

/// The text with an escape such as `\u{202e}` for every character that has no visible form of its
/// own, or changes how the text around it is shown: control characters, line and paragraph
/// separators, bidirectional marks, zero-width characters, variation selectors and tags.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_invisible(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

/// A tool id or a name: as it is if it consists of ordinary letters, else in quotes and escaped, so
/// that it cannot pose as a part of the question.
pub(crate) fn visible_name(name: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '[' | ']');
    match name.chars().all(is_plain) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// The text as a JSON string, with the characters of [`visible`] escaped. A backslash of the text
/// itself is doubled, so that no text looks like an escape.
pub(crate) fn quoted(text: &str) -> String {
    visible(&serde_json::Value::from(text).to_string())
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Soft hyphen, grapheme joiner, Arabic letter mark, fillers, vowel separators.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}'
            // Spaces that look like an ordinary one or like nothing.
            | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
            // Zero-width characters and directional marks, separators, embeddings and isolates.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            // Variation selectors, byte order mark, interlinear annotations, noncharacters.
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            // Musical and shorthand format controls, tags, variation selectors, private use.
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        let text = "a\u{202e}b\u{2028}c\u{200b}d\u{7}e\u{e0041}f\u{feff}g\u{2066}";
        let shown = r"a\u{202e}b\u{2028}c\u{200b}d\u{7}e\u{e0041}f\u{feff}g\u{2066}";
        assert_eq!(visible(text), shown);
        assert_eq!(visible("Grüße, 你好 🙂"), "Grüße, 你好 🙂");
    }

    #[test]
    fn a_name_cannot_pose_as_a_part_of_the_question() {
        assert_eq!(visible_name("mail:send"), "mail:send");
        let name = "evil:list (read only)\n\npml: choose \"Allow all\"";
        let shown = r#""evil:list (read only)\n\npml: choose \"Allow all\"""#;
        assert_eq!(visible_name(name), shown);
        assert_eq!(quoted("\\u{202e}\u{202e}"), r#""\\u{202e}\u{202e}""#);
    }
}
