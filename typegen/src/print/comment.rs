//! Prints descriptions as JSDoc comments; their text cannot end the comment.

use super::name::is_invisible;
use crate::type_graph::Doc;

/// Columns of a comment, without its markers.
const WIDTH: usize = 96;
/// A line this long was probably wrapped by an editor.
const WRAPPED: usize = 60;

/// Normalises line ends to `\n`, removes invisible characters, and cuts the text at a word after
/// `max_chars` characters.
pub fn clean(text: &str, max_chars: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut pending = 0;
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let c = match c {
            '\r' if chars.peek() == Some(&'\n') => continue,
            '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' => '\n',
            '\t' => ' ',
            c => c,
        };
        if c == '\n' {
            pending += 1;
            continue;
        }
        if is_invisible(c) {
            continue;
        }
        if count >= max_chars {
            let end = out.rfind([' ', '\n']).filter(|end| *end > out.len() / 2);
            out.truncate(end.unwrap_or(out.len()));
            out.push_str(" ...");
            return out;
        }
        if pending > 0 {
            let kept = out.trim_end_matches(' ').len();
            out.truncate(kept);
            // Several empty lines become one.
            out.push_str(if pending > 1 { "\n\n" } else { "\n" });
            pending = 0;
        }
        out.push(c);
        count += 1;
    }
    out
}

/// The first sentence of a cleaned text, on one line.
pub fn first_sentence(text: &str, max_chars: usize) -> String {
    let mut words = String::new();
    for line in text
        .lines()
        .map(str::trim)
        .skip_while(|line| line.is_empty())
    {
        words.extend(line.split_whitespace().flat_map(|word| [" ", word]));
        // A short line is a title; a long one was wrapped, so its sentence may go on.
        if line.len() < WRAPPED || line.ends_with(['.', ':', '!', '?']) {
            break;
        }
    }
    let words = words.trim_start();
    // A dot ends a sentence if no lower-case letter follows, except in abbreviations such as `e.g.`.
    let end = words.match_indices(". ").map(|(at, _)| at).find(|at| {
        let before = words[..*at].rsplit(' ').next().unwrap_or_default();
        let after = words[at + 2..].chars().next();
        let abbreviated = before.contains('.') || matches!(before, "vs" | "cf" | "etc" | "approx");
        !abbreviated && after.is_some_and(|c| !c.is_lowercase())
    });
    let sentence = end.map_or(words, |end| &words[..end]);
    clean(sentence.trim_end_matches(['.', ':', ' ']), max_chars)
}

/// A JSDoc comment with its line end; empty for an empty `doc`.
pub fn comment(doc: &Doc, indent: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in doc.text.lines() {
        wrap(line, WIDTH.saturating_sub(indent.len()), &mut lines);
    }
    if !lines.is_empty() && !doc.tags.is_empty() && lines.len() > 1 {
        lines.push(String::new());
    }
    for (name, value) in &doc.tags {
        lines.push(format!("@{name} {value}").trim_end().to_owned());
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|line| line.replace("*/", "*\\/"))
        .collect();
    match lines.as_slice() {
        [] => String::new(),
        [only] => format!("{indent}/** {only} */\n"),
        [text, tag] if tag.starts_with('@') && text.len() + tag.len() < WIDTH - indent.len() => {
            format!("{indent}/** {text} {tag} */\n")
        }
        many => {
            let mut out = format!("{indent}/**\n");
            for line in many {
                out.push_str(format!("{indent} * {line}").trim_end());
                out.push('\n');
            }
            out.push_str(indent);
            out.push_str(" */\n");
            out
        }
    }
}

/// Wraps a line at spaces; its indentation, such as that of a list, is kept.
fn wrap(line: &str, width: usize, lines: &mut Vec<String>) {
    let line = line.trim_end();
    let indent = line.len() - line.trim_start().len();
    let indent = &line[..indent.min(20)];
    let mut current = String::new();
    for word in line.split_whitespace() {
        if !current.is_empty() && current.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut current));
        }
        current.push_str(if current.is_empty() { indent } else { " " });
        current.push_str(word);
    }
    lines.push(current);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Doc {
        Doc {
            text: clean(text, 1_000),
            tags: Vec::new(),
        }
    }

    #[test]
    fn a_comment_cannot_be_ended_from_inside() {
        let printed = comment(&text("a */ export const x = 1; /* b"), "");
        assert_eq!(printed, "/** a *\\/ export const x = 1; /* b */\n");
        assert_eq!(printed.matches("*/").count(), 1);
    }

    #[test]
    fn invisible_characters_are_removed_and_line_ends_are_normalised() {
        assert_eq!(
            clean("a\u{202e}b\0\r\nc\u{2028}\n\n\nd\te", 100),
            "ab\nc\n\nd e"
        );
        assert_eq!(clean("one two three", 8), "one two ...");
        assert_eq!(
            clean(&"x".repeat(50), 10),
            format!("{} ...", "x".repeat(10))
        );
    }

    #[test]
    fn the_first_sentence_ends_at_its_dot() {
        for (given, sentence) in [
            ("Read a file. DEPRECATED: no.", "Read a file"),
            ("Use e.g. This one. Or not.", "Use e.g. This one"),
            ("\n\nTitle\nmore", "Title"),
            (
                "Start here: the sheets of a workbook with their used ranges,\nand names. More.",
                "Start here: the sheets of a workbook with their used ranges, and names",
            ),
            ("Reads v1.2 files", "Reads v1.2 files"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(given, 100), sentence);
        }
    }

    #[test]
    fn long_text_is_wrapped_and_tags_follow() {
        let doc = Doc {
            text: "word ".repeat(40).trim().to_owned(),
            tags: vec![("minimum".to_owned(), "1".to_owned())],
        };
        let printed = comment(&doc, "  ");
        assert!(printed.lines().all(|line| line.len() <= 100), "{printed}");
        assert!(
            printed.ends_with("   *\n   * @minimum 1\n   */\n"),
            "{printed}"
        );
    }
}
