//! Shortens the console lines of a run to what fits into a reply.

use pml_protocol::{Level, LogLine};

/// The characters of the log that are shown however large the result is.
const MIN_CHARS: usize = 2_000;
/// The characters of a line besides its text: `{"level":"log","text":""},`.
const LINE_COST: usize = 26;
/// The characters that are shown of a long line if not all lines fit.
const LONG_LINE_CHARS: usize = 800;

/// The characters that are scrubbed and not shown on each side of a cut within a line. A private value
/// that the cut goes through is either found, because it ends within them, or not shown, because what
/// is left of it lies within them.
const LINE_MARGIN: usize = 2_048;
/// The same for lines that are left out: a private key fills many lines.
const LINES_MARGIN: usize = 8_192;

/// The lines that may be shown, cut with a margin before they are scrubbed: scrubbing costs much more
/// than running the script that wrote them.
pub(crate) struct Kept {
    budget: usize,
    first: Vec<Line>,
    /// Empty if no line is left out.
    last: Vec<Line>,
    left_out: usize,
}

/// One line, and what is missing from it.
struct Line {
    level: Level,
    text: String,
    /// The characters that were cut before scrubbing, if any, without the margin.
    cut: usize,
    /// Whether the line is scrubbed only because a value may continue in it.
    is_margin: bool,
}

impl Line {
    fn of(line: LogLine, shortens: bool, is_margin: bool) -> Self {
        let LogLine { level, mut text } = line;
        let mut cut = 0;
        let end = text.char_indices().nth(LONG_LINE_CHARS + LINE_MARGIN);
        if let (true, Some((end, _))) = (shortens, end) {
            cut = text[end..].chars().count();
            text.truncate(end);
        }
        Self {
            level,
            text,
            cut,
            is_margin,
        }
    }

    /// Takes the margin off a line that was cut: half a value may be there.
    fn without_margin(mut self) -> Self {
        if self.cut > 0 {
            let chars = self.text.chars().count();
            let kept = chars.saturating_sub(LINE_MARGIN).min(LONG_LINE_CHARS);
            let end = self.text.char_indices().nth(kept);
            self.text
                .truncate(end.map_or(self.text.len(), |(end, _)| end));
            self.cut += chars - kept;
        }
        self
    }
}

impl Kept {
    /// Keeps what may fit into `chars` characters. If not all lines fit, long ones are cut, then lines
    /// from the middle are left out: the beginning and the end are the most useful.
    pub(crate) fn of(mut lines: Vec<LogLine>, chars: usize) -> Self {
        let budget = chars.max(MIN_CHARS);
        let all = |lines: Vec<LogLine>, shortens| Self {
            budget,
            first: lines
                .into_iter()
                .map(|line| Line::of(line, shortens, false))
                .collect(),
            last: Vec::new(),
            left_out: 0,
        };
        let chars_of = |line: &LogLine| line.text.chars().count() + LINE_COST;
        if lines.iter().map(chars_of).sum::<usize>() <= budget {
            return all(lines, false);
        }
        let short = |line: &LogLine| chars_of(line).min(LONG_LINE_CHARS + LINE_COST);
        let first = fitting(lines.iter().map(short), budget / 2);
        let last = fitting(lines.iter().rev().map(short), budget / 2);
        let margin = |costs: &mut dyn Iterator<Item = usize>| fitting(costs, LINES_MARGIN) + 1;
        let first_margin = margin(&mut lines[first..].iter().map(short));
        let rest = &lines[..lines.len() - last];
        let last_margin = margin(&mut rest.iter().rev().map(short));
        if first + first_margin + last_margin + last >= lines.len() {
            return all(lines, true);
        }
        let left_out = lines.len() - first - last;
        let end = lines.split_off(lines.len() - last - last_margin);
        lines.truncate(first + first_margin);
        let part = |lines: Vec<LogLine>, margin: std::ops::Range<usize>| {
            let lines = lines.into_iter().enumerate();
            lines
                .map(|(index, line)| Line::of(line, true, margin.contains(&index)))
                .collect()
        };
        Self {
            budget,
            first: part(lines, first..usize::MAX),
            last: part(end, 0..last_margin),
            left_out,
        }
    }

    /// The same lines with each text scrubbed by `scrub`, which gets consecutive lines.
    pub(crate) fn scrubbed<E>(
        mut self,
        mut scrub: impl FnMut(Vec<String>) -> Result<Vec<String>, E>,
    ) -> Result<Self, E> {
        for lines in [&mut self.first, &mut self.last] {
            let texts = lines.iter_mut().map(|line| std::mem::take(&mut line.text));
            let scrubbed = scrub(texts.collect())?;
            for (line, text) in lines.iter_mut().zip(scrubbed) {
                line.text = text;
            }
        }
        Ok(self)
    }

    /// The lines that are shown.
    pub(crate) fn shown(self) -> Vec<(Level, String)> {
        let is_shown = |line: &Line| !line.is_margin;
        let text = |line: Line| {
            let line = line.without_margin();
            (line.level, line.text, line.cut)
        };
        let mut first: Vec<_> = self.first.into_iter().filter(is_shown).map(text).collect();
        let last: Vec<_> = self.last.into_iter().filter(is_shown).map(text).collect();
        if self.left_out > 0 {
            let note = left_out(self.left_out);
            let first = first.into_iter().map(noted);
            return first
                .chain([note])
                .chain(last.into_iter().map(noted))
                .collect();
        }
        let cost = |line: &(Level, String, usize)| line.1.chars().count() + LINE_COST;
        if first.iter().map(cost).sum::<usize>() > self.budget {
            first.iter_mut().for_each(shorten);
        }
        let mut lines: Vec<_> = first.into_iter().map(noted).collect();
        let cost = |(_, text): &(Level, String)| text.chars().count() + LINE_COST;
        // Replacements may be longer than what they replace.
        if lines.iter().map(cost).sum::<usize>() > self.budget {
            let first = fitting(lines.iter().map(cost), self.budget / 2);
            let last = fitting(lines.iter().rev().map(cost), self.budget / 2);
            let out = first..lines.len() - last;
            let note = left_out(out.len());
            lines.splice(out, [note]);
        }
        lines
    }
}

fn left_out(lines: usize) -> (Level, String) {
    let lines = match lines {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    };
    let note = format!("({lines} left out: log less, or return what matters)");
    (Level::Warn, note)
}

/// The text of a line with a note of what was cut from it.
fn noted((level, mut text, cut): (Level, String, usize)) -> (Level, String) {
    if cut > 0 {
        text.push_str(&format!("… ({cut} more characters)"));
    }
    (level, text)
}

fn shorten((_, text, cut): &mut (Level, String, usize)) {
    if let Some((end, _)) = text.char_indices().nth(LONG_LINE_CHARS) {
        *cut += text[end..].chars().count();
        text.truncate(end);
    }
}

/// How many of the lines with these costs fit into `room` characters.
fn fitting(costs: impl Iterator<Item = usize>, mut room: usize) -> usize {
    costs
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
        let lines = texts.into_iter().map(|text| LogLine {
            level: Level::Log,
            text,
        });
        let kept = Kept::of(lines.collect(), chars);
        let shown = kept.scrubbed(Ok::<_, ()>).unwrap().shown();
        shown.into_iter().map(|(_, text)| text).collect()
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
