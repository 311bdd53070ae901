//! The lines of a run's console, as many as a reader gets.

use pml_runtime::{Level, LogLine};

/// Whatever the result leaves, this much of the log is shown.
const AT_LEAST: usize = 2_000;

/// Which lines are left out so that the rest has at most `chars` characters: from the middle, as
/// beginning and end tell most.
pub fn too_many(lines: &[LogLine], chars: usize) -> std::ops::Range<usize> {
    let budget = chars.max(AT_LEAST);
    let sizes: Vec<usize> = lines
        .iter()
        .map(|line| line.text.chars().count() + 1)
        .collect();
    if sizes.iter().sum::<usize>() <= budget {
        return 0..0;
    }
    let fitting = |sizes: &mut dyn Iterator<Item = &usize>| {
        let mut left = budget / 2;
        sizes
            .take_while(|size| {
                let fits = **size <= left;
                left = left.saturating_sub(**size);
                fits
            })
            .count()
    };
    let first = fitting(&mut sizes.iter());
    let last = fitting(&mut sizes.iter().rev());
    first..lines.len().saturating_sub(last).max(first)
}

pub fn left_out(count: usize) -> (Level, String) {
    let text = format!("({count} lines left out: log less, or return what matters)");
    (Level::Warn, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[String]) -> Vec<LogLine> {
        texts
            .iter()
            .map(|text| LogLine {
                level: Level::Log,
                text: text.clone(),
            })
            .collect()
    }

    #[test]
    fn few_lines_are_all_shown() {
        assert_eq!(too_many(&lines(&["a".to_owned(), "b".to_owned()]), 0), 0..0);
    }

    #[test]
    fn the_middle_goes_first() {
        let texts: Vec<String> = (0..1000).map(|n| format!("line {n:04}")).collect();
        let out = too_many(&lines(&texts), 4_000);
        assert_eq!(out, 200..800);
    }

    #[test]
    fn one_giant_line_is_left_out() {
        let out = too_many(&lines(&["x".repeat(1_000_000)]), 24_000);
        assert_eq!(out, 0..1);
    }
}
