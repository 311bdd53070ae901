//! Prints names and strings in TypeScript syntax.

use std::fmt::Write;

/// A property name, quoted if it is not an identifier.
pub fn key(name: &str) -> String {
    if is_identifier(name) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// The name of an interface's method, quoted if it would be a keyword there: `new(…)` is a constructor.
pub fn method(name: &str) -> String {
    match name {
        "new" | "constructor" | "get" | "set" | "readonly" => quoted(name),
        _ => key(name),
    }
}

/// A member access: `.name`, or `["na-me"]`.
pub fn member(name: &str) -> String {
    if is_identifier(name) {
        format!(".{name}")
    } else {
        format!("[{}]", quoted(name))
    }
}

/// Whether a name is an ASCII identifier. Others are quoted, because they can look alike.
fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$';
    bytes.next().is_some_and(first) && bytes.all(|byte| first(byte) || byte.is_ascii_digit())
}

/// A string literal in double quotes, with invisible characters escaped.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_invisible(c) => {
                // Infallible: the target is a string.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether a character is a control character, a Unicode line end, or a mark that changes the direction
/// of text.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A type name in Pascal case: `ReadFile` for `read_file` and `read-file`. Never empty.
pub fn pascal(name: &str) -> String {
    const MAX: usize = 60;
    let mut out = String::new();
    let mut upper = true;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            upper = true;
        } else if out.is_empty() && c.is_ascii_digit() {
            out.push('N');
            out.push(c);
        } else if upper {
            out.push(c.to_ascii_uppercase());
            upper = false;
        } else {
            out.push(c);
        }
        if out.len() >= MAX {
            break;
        }
    }
    if out.is_empty() {
        out.push_str("Unnamed");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_go_without_quotes() {
        assert_eq!(key("read_file"), "read_file");
        assert_eq!(key("class"), "class");
        for (name, printed) in [
            ("", r#""""#),
            ("a-b", r#""a-b""#),
            ("0", r#""0""#),
            ("größe", r#""größe""#),
            ("a\"b\\c\nd", r#""a\"b\\c\nd""#),
            ("a\u{202e}b\u{0}", r#""a\u{202e}b\u{0}""#),
        ] {
            assert_eq!(key(name), printed);
        }
        assert_eq!(method("new"), r#""new""#);
        assert_eq!(member("chrome-devtools"), r#"["chrome-devtools"]"#);
    }

    #[test]
    fn a_name_for_a_type_is_an_identifier_whatever_it_comes_from() {
        for (name, printed) in [
            ("read_file", "ReadFile"),
            ("chrome-devtools", "ChromeDevtools"),
            ("getHTTPUrl", "GetHTTPUrl"),
            ("3d", "N3D"),
            ("größe", "GrE"),
            ("日本", "Unnamed"),
            ("", "Unnamed"),
        ] {
            assert_eq!(pascal(name), printed, "{name}");
        }
    }
}
