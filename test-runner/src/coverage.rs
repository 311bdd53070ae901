//! Line coverage of all test files together, and its lcov report.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::harness_message::FileLines;

/// How often each line of each file ran.
#[derive(Debug, Default)]
pub struct Coverage {
    files: BTreeMap<String, BTreeMap<u32, u64>>,
}

impl Coverage {
    /// Adds the counts of one test file. The lines of test files themselves are left out.
    pub(crate) fn add(&mut self, files: Vec<FileLines>) {
        for file in files {
            if file.path.ends_with(".test.ts") || file.path.ends_with(".test.js") {
                continue;
            }
            let lines = self.files.entry(file.path).or_default();
            for (line, count) in file.lines {
                let total = lines.entry(line).or_default();
                *total = total.saturating_add(count);
            }
        }
    }

    /// The tracefile that lcov and CI systems read.
    pub fn lcov(&self) -> String {
        let mut out = String::new();
        for (path, lines) in &self.files {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "TN:\nSF:{}", path.replace('\n', " "));
            for (line, count) in lines {
                let _ = writeln!(out, "DA:{line},{count}");
            }
            let (hit, all) = hit(lines);
            let _ = writeln!(out, "LF:{all}\nLH:{hit}\nend_of_record");
        }
        out
    }

    /// Each file with the number of its covered lines and of all its executable lines.
    pub fn files(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.files.iter().map(|(path, lines)| {
            let (hit, all) = hit(lines);
            (path.as_str(), hit, all)
        })
    }
}

fn hit(lines: &BTreeMap<u32, u64>) -> (usize, usize) {
    let hit = lines.values().filter(|count| **count > 0).count();
    (hit, lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_several_test_files_add_up() {
        let counted = |path: &str, lines: &[(u32, u64)]| FileLines {
            path: path.to_owned(),
            lines: lines.iter().copied().collect(),
        };
        let mut coverage = Coverage::default();
        coverage.add(vec![
            counted("a.ts", &[(1, 1), (2, 0), (3, 0)]),
            counted("a.test.ts", &[(1, 1)]),
        ]);
        coverage.add(vec![counted("a.ts", &[(1, 2), (2, 4)])]);
        assert_eq!(
            coverage.lcov(),
            "TN:\nSF:a.ts\nDA:1,3\nDA:2,4\nDA:3,0\nLF:3\nLH:2\nend_of_record\n"
        );
        assert_eq!(coverage.files().collect::<Vec<_>>(), [("a.ts", 2, 3)]);
    }
}
