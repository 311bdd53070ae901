//! The lines in which two texts differ.

use std::fmt::Write;

/// Texts with more lines than this are not compared line by line.
const MAX_LINES: usize = 2_000;
/// Lines of a diff that are shown.
const MAX_SHOWN: usize = 40;

/// The lines that were removed (`-`) and added (`+`), with the number of each.
pub fn line_diff(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        let first = old.iter().zip(&new).position(|(old, new)| old != new);
        let line = first.unwrap_or(old.len().min(new.len())) + 1;
        return format!("  the first difference is in line {line}\n");
    }
    let mut shown = String::new();
    let changes = changes(&old, &new);
    for change in changes.iter().take(MAX_SHOWN) {
        // Writing to a string cannot fail.
        let _ = match change {
            Change::Removed(index) => writeln!(shown, "  -{:>4}  {}", index + 1, old[*index]),
            Change::Added(index) => writeln!(shown, "  +{:>4}  {}", index + 1, new[*index]),
        };
    }
    if changes.len() > MAX_SHOWN {
        let _ = writeln!(shown, "  … and {} more lines", changes.len() - MAX_SHOWN);
    }
    shown
}

#[derive(Debug, PartialEq, Eq)]
enum Change {
    Removed(usize),
    Added(usize),
}

/// The fewest changes that make `new` of `old`, by their longest common subsequence.
fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    // common[i][j]: the length of the longest common subsequence of old[i..] and new[j..].
    let width = new.len() + 1;
    let mut common = vec![0_u16; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut changes = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len()
            || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            changes.push(Change::Removed(i));
            i += 1;
        } else {
            changes.push(Change::Added(j));
            j += 1;
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_lines_are_shown_with_their_numbers() {
        let diff = line_diff("a\nb\nc\n", "a\nB\nc\nd\n");
        assert_eq!(diff, "  -   2  b\n  +   2  B\n  +   4  d\n");
        assert_eq!(line_diff("a", "a"), "");
    }

    #[test]
    fn a_long_diff_is_cut_and_a_long_text_is_not_compared() {
        let long = |word: &str, lines| vec![word; lines].join("\n");
        let diff = line_diff(&long("a", 60), &long("b", 60));
        assert!(diff.ends_with("and 80 more lines\n"), "{diff}");
        let diff = line_diff(&long("a", 3_000), &(long("a", 2_999) + "\nb"));
        assert!(diff.contains("line 3000"), "{diff}");
    }
}
