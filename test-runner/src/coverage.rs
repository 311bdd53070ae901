//! Which lines ran, of all files together, in the form that lcov reads.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::message::FileLines;

#[derive(Debug, Default)]
pub struct Coverage {
    files: BTreeMap<String, BTreeMap<u32, u64>>,
}

impl Coverage {
    /// Adds what one file of tests counted. Files of tests themselves are not what is tested.
    pub(crate) fn add(&mut self, counted: Vec<FileLines>) {
        for file in counted {
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

    /// Each file with its lines that ran and its lines that can.
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
    fn counts_of_several_files_of_tests_add_up() {
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
