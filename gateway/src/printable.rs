//! Text of others in messages, logs and lists: which names are accepted, and how the rest is shown.

use std::fmt::Write;

/// The longest name of a tool or server, in bytes: what the specification of MCP allows for tools.
const MAX_NAME: usize = 128;
/// Characters of a foreign text that a message shows.
const MAX_SHOWN: usize = 128;

/// Whether a server may call a tool so. The specification's alphabet is ASCII letters, digits, `_`,
/// `-`, `.` and `/`; colons group the tools of some servers and are unambiguous in `server:tool`.
/// Any other character could make a name look like several lines, another name or a remark of ours.
pub(crate) fn is_tool_name(name: &str) -> bool {
    let is_allowed =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_allowed)
}

/// Whether a configuration may call a server so. The user chooses the name, so letters of every
/// language and signs such as `@` are accepted, except the colon of `server:tool`.
pub(crate) fn is_server_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || c.is_ascii_punctuation() && c != ':';
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_allowed)
}

/// Whether a character must not reach a terminal or a log as it is: it ends a line, controls the
/// terminal, or reorders the text around it.
pub fn is_unsafe_to_show(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The text as a message shows it: unsafe characters are escaped (`\u{202e}`), and what is over 128
/// characters is cut.
pub fn printable(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(MAX_SHOWN) {
        match is_unsafe_to_show(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    let more = text.chars().skip(MAX_SHOWN).count();
    if more > 0 {
        // Infallible: the target is a string.
        let _ = write!(shown, "… ({more} more characters)");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_the_specifications_alphabet() {
        for name in [
            "read_file",
            "a",
            "admin.tools/list-2",
            "group:read",
            "__proto__",
        ] {
            assert!(is_tool_name(name), "{name}");
        }
        let long = "x".repeat(MAX_NAME + 1);
        for name in [
            "",
            "list files",
            "list_files (read only)",
            "weather\nbank:transfer",
            "a\u{2028}b",
            "a\u{202e}b",
            "a\u{200b}b",
            "a\u{1b}[31m",
            "tr\u{430}nsfer",
            "a`b",
            &long,
        ] {
            assert!(!is_tool_name(name), "{name:?}");
        }
        for name in ["fs", "größe", "@scope/server"] {
            assert!(is_server_name(name), "{name}");
        }
        for name in ["", "a:b", "a b", "a\nb", "a\u{202e}b", "a\u{200b}b", &long] {
            assert!(!is_server_name(name), "{name:?}");
        }
    }

    #[test]
    fn a_foreign_text_is_one_short_line() {
        assert_eq!(printable("größe"), "größe");
        assert_eq!(printable("a\nb\u{202e}"), r"a\u{a}b\u{202e}");
        let long = printable(&"x".repeat(1_000));
        assert!(long.ends_with("… (872 more characters)"), "{long}");
    }
}
