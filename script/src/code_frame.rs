//! Code frames: the lines around an error, with a caret under it.

use std::fmt::Write;

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
            let pad: usize = text.chars().take(before).filter_map(|c| c.width()).sum();
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
    let mut shown: Vec<char> = text
        .chars()
        .skip(offset)
        .take(MAX_WIDTH)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    // Without the ellipsis, a cut line would look like the script's own text.
    let is_cut = text.chars().nth(offset + MAX_WIDTH).is_some();
    if let (Some(first), true) = (shown.first_mut(), offset > 0) {
        *first = CUT;
    }
    if let (Some(last), true) = (shown.last_mut(), is_cut) {
        *last = CUT;
    }
    (shown.into_iter().collect(), offset)
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
    fn a_line_that_does_not_exist_has_no_frame() {
        assert_eq!(render("one", 7, 1), None);
    }
}
