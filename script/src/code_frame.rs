//! Code frames: the lines around an error, with a caret under it.

use std::fmt::Write;
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

const CONTEXT: u32 = 2;
/// Longer lines, such as minified ones, are cut around the column.
const MAX_WIDTH: usize = 100;
const CUT: char = '…';

/// Renders the lines around `line` (from 1) with a caret at `column` (from 1). `None` if the
/// script has no such line.
pub fn render(source: &str, line: u32, column: u32) -> Option<String> {
    // Columns do not count the byte order mark.
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let first = line.saturating_sub(CONTEXT).max(1);
    let last = line.saturating_add(CONTEXT);
    let shown: Vec<(u32, &str)> = (1..)
        .zip(source.lines())
        .skip(first as usize - 1)
        .take_while(|(number, _)| *number <= last)
        .collect();
    shown.iter().find(|(number, _)| *number == line)?;
    let gutter = shown.last()?.0.to_string().len();

    let mut frame = String::new();
    for (number, text) in shown {
        let at = if number == line { column } else { 1 };
        let (text, offset) = window(text, at);
        let mark = if number == line { '>' } else { ' ' };
        // Writing to a string cannot fail.
        let shown = format!("{mark} {number:>gutter$} | {text}");
        let _ = writeln!(frame, "{}", shown.trim_end());
        if number == line {
            let before = (column as usize).saturating_sub(1).saturating_sub(offset);
            let shown: usize = text.chars().take(before).filter_map(|c| c.width()).sum();
            let pad = shown + before.saturating_sub(text.chars().count());
            let _ = writeln!(frame, "  {:gutter$} | {:pad$}^", "", "");
        }
    }
    frame.truncate(frame.trim_end().len());
    Some(frame)
}

/// The part of a long line around a column, and how many characters were cut before it. Tabs
/// become single spaces, so that the caret stands where the column is.
fn window(text: &str, column: u32) -> (String, usize) {
    let column = column as usize;
    let offset = if column > MAX_WIDTH {
        column - MAX_WIDTH / 2
    } else {
        0
    };
    let line: Vec<char> = text.chars().collect();
    let end = line.len().min(offset + MAX_WIDTH);
    if offset >= end {
        return (String::new(), offset);
    }
    // An ellipsis takes the first or last place: without it, a cut line would look like the script's
    // own text.
    let (cut_before, cut_after) = (offset > 0, end < line.len());
    let first = offset + usize::from(cut_before);
    let last = (end - usize::from(cut_after)).max(first);
    // A piece that a cut goes through is hidden: half a secret could not be recognised when the frame
    // is scrubbed.
    let pieces = pieces(&line);
    let cut_through = |at: usize| {
        pieces
            .iter()
            .find(|piece| piece.start < at && at < piece.end)
    };
    let from = cut_through(first).map_or(first, |piece| piece.end.min(last));
    let to = cut_through(last).map_or(last, |piece| piece.start.max(from));
    let mut shown = String::new();
    shown.extend(cut_before.then_some(CUT));
    // Blanks keep the caret under its column.
    shown.extend(std::iter::repeat_n(' ', from - first));
    shown.extend(
        line[from..to]
            .iter()
            .map(|c| if c.is_control() { ' ' } else { *c }),
    );
    shown.extend(cut_after.then_some(CUT));
    (shown, offset)
}

/// The pieces of a line that are shown whole or not at all: string literals, and words between them.
/// Groups of digits that are written apart, as in a card number, are one piece.
fn pieces(line: &[char]) -> Vec<Range<usize>> {
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
    let ends_word = |c: char| c.is_whitespace() || is_quote(c) || ",;(){}[]<>!?|^&*~=".contains(c);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let start = at;
        if is_quote(line[at]) {
            at += 1;
            while at < line.len() && line[at] != line[start] {
                at += if line[at] == '\\' { 2 } else { 1 };
            }
            at = (at + 1).min(line.len());
            pieces.push(start..at);
        } else if ends_word(line[at]) {
            at += 1;
        } else {
            while at < line.len() && !ends_word(line[at]) {
                at += 1;
            }
            let has_digit =
                |piece: &Range<usize>| line[piece.clone()].iter().any(char::is_ascii_digit);
            let joined = |before: &&mut Range<usize>| {
                before.end + 1 == start && line[before.end] == ' ' && has_digit(before)
            };
            match pieces.last_mut().filter(joined) {
                Some(before) if has_digit(&(start..at)) => before.end = at,
                _ => pieces.push(start..at),
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_under_the_column() {
        let frame = render("let a = 1;\nlet b = ;\nlet c = 3;", 2, 9).unwrap();
        assert_eq!(
            frame,
            "  1 | let a = 1;\n> 2 | let b = ;\n    |         ^\n  3 | let c = 3;"
        );
    }

    #[test]
    fn the_caret_accounts_for_wide_characters() {
        let frame = render("let a = \"日本\"; let b = ;", 1, 23).unwrap();
        assert_eq!(
            frame,
            "> 1 | let a = \"日本\"; let b = ;\n    |                         ^"
        );
    }

    #[test]
    fn a_minified_line_is_cut_around_the_column() {
        let source = format!("{}!", "x".repeat(5000));
        let frame = render(&source, 1, 5001).unwrap();
        assert!(frame.lines().all(|line| line.len() < 120), "{frame}");
        assert!(frame.contains('!'));
    }

    #[test]
    fn no_part_of_a_secret_that_the_cut_goes_through_is_shown() {
        for secret in [
            "ghp_a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6",
            "\"correct horse (battery), staple; x9\"",
            "4111 1111 1111 1111",
            "DE89 3704 0044 0532 0130 00",
        ] {
            for before in 60..=200 {
                let line = format!(
                    "{}; f({secret}, 1) + {}",
                    "a + ".repeat(before / 4),
                    "b + ".repeat(50)
                );
                for column in [1, 90, 120, 150, 250, 400] {
                    let Some(frame) = render(&line, 1, column) else {
                        continue;
                    };
                    let parts = secret.split(' ').filter(|part| part.len() >= 4);
                    for part in parts {
                        let whole = frame.contains(secret);
                        let half = &part[..part.len().min(6) - 1];
                        assert!(whole || !frame.contains(half), "{frame}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_that_does_not_exist_has_no_frame() {
        assert_eq!(render("one", 7, 1), None);
    }
}
