//! Shortens the console lines of a run to what fits into a reply.

use pml_protocol::Level;

/// The characters of the log that are shown however large the result is.
const MIN_CHARS: usize = 2_000;
/// The characters of a line besides its text: `{"level":"log","text":""},`.
const LINE_COST: usize = 26;
/// The characters that are shown of a long line if not all lines fit.
const LONG_LINE_CHARS: usize = 800;

/// The lines that fit into `chars` characters. If not all fit, long lines are cut, then lines from the
/// middle are left out: the beginning and the end are the most useful.
pub(crate) fn fit(mut lines: Vec<(Level, String)>, chars: usize) -> Vec<(Level, String)> {
    let budget = chars.max(MIN_CHARS);
    if lines.iter().map(cost).sum::<usize>() <= budget {
        return lines;
    }
    lines.iter_mut().for_each(|(_, text)| shorten(text));
    if lines.iter().map(cost).sum::<usize>() <= budget {
        return lines;
    }
    let first = fitting(lines.iter(), budget / 2);
    let last = fitting(lines.iter().rev(), budget / 2);
    let out = first..lines.len() - last;
    let left_out = match out.len() {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    };
    let note = format!("({left_out} left out: log less, or return what matters)");
    lines.splice(out, [(Level::Warn, note)]);
    lines
}

fn cost((_, text): &(Level, String)) -> usize {
    text.chars().count() + LINE_COST
}

fn shorten(text: &mut String) {
    let Some((end, _)) = text.char_indices().nth(LONG_LINE_CHARS) else {
        return;
    };
    let left_out = text[end..].chars().count();
    text.truncate(end);
    text.push_str(&format!("… ({left_out} more characters)"));
}

/// How many of the lines fit into `room` characters.
fn fitting<'l>(lines: impl Iterator<Item = &'l (Level, String)>, mut room: usize) -> usize {
    lines
        .map(cost)
        .take_while(|cost| {
            let fits = *cost <= room;
            room = room.saturating_sub(*cost);
            fits
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit_texts(texts: Vec<String>, chars: usize) -> Vec<String> {
        let lines = texts.into_iter().map(|text| (Level::Log, text)).collect();
        let fit = fit(lines, chars);
        fit.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn few_lines_are_all_shown() {
        let texts = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(fit_texts(texts.clone(), 0), texts);
    }

    #[test]
    fn the_middle_goes_first() {
        let texts = (0..1000).map(|n| format!("line {n:04}")).collect();
        let shown = fit_texts(texts, 4_000);
        assert_eq!(shown[0], "line 0000");
        assert_eq!(shown.last().unwrap(), "line 0999");
        assert_eq!(
            shown[57],
            "(886 lines left out: log less, or return what matters)"
        );
    }

    #[test]
    fn what_is_around_a_line_counts_too() {
        let shown = fit_texts(vec![String::new(); 100_000], 24_000);
        assert!(shown.len() < 1_000, "{}", shown.len());
    }

    #[test]
    fn one_giant_line_is_cut() {
        let shown = fit_texts(vec!["x".repeat(1_000_000)], 24_000);
        assert_eq!(shown.len(), 1);
        assert!(shown[0].starts_with("xxx"));
        assert!(shown[0].ends_with("x… (999200 more characters)"));
    }
}
