//! The terminal report: a line for each file, the failures in full, and the totals.

use std::fmt::Write;

use pml_protocol::Level;

use crate::results::{FileResult, Location, Status, Summary, TestFailure};

/// Functions that colour a text.
#[derive(Clone, Copy)]
pub struct Colours {
    /// Passed tests, and expected lines of a diff.
    pub good: fn(&str) -> String,
    /// Failures, and received lines of a diff.
    pub bad: fn(&str) -> String,
    /// Warnings and skipped tests.
    pub odd: fn(&str) -> String,
    /// Details.
    pub dim: fn(&str) -> String,
}

impl Colours {
    /// Plain text.
    pub fn none() -> Self {
        let same = |text: &str| text.to_owned();
        Self {
            good: same,
            bad: same,
            odd: same,
            dim: same,
        }
    }
}

/// Formats results for a terminal.
pub struct Pretty {
    /// The colours of the terminal.
    pub colours: Colours,
    /// Show every test and every log line, not only those of failed files.
    pub verbose: bool,
}

impl Pretty {
    /// The report of one file.
    pub fn file(&self, file: &FileResult) -> String {
        let Colours { good, bad, dim, .. } = self.colours;
        let mut out = String::new();
        let label = match file.passed() {
            true => good("ok  "),
            false => bad("FAIL"),
        };
        let count = file.tests.len();
        let noun = if count == 1 { "test" } else { "tests" };
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            out,
            "{label} {} {}",
            file.path.display(),
            dim(&format!("({count} {noun}, {:.0} ms)", file.ms))
        );
        let all = self.verbose || !file.passed();
        for test in &file.tests {
            let line = match test.status {
                Status::Passed if !all => continue,
                Status::Passed => format!("{} {}", good("+"), test.name),
                Status::Failed => format!("{} {}", bad("x"), test.name),
                Status::Skipped if !self.verbose => continue,
                Status::Skipped => dim(&format!("- {} (skipped)", test.name)),
                Status::Todo if !self.verbose => continue,
                Status::Todo => dim(&format!("- {} (todo)", test.name)),
            };
            let _ = writeln!(out, "  {line}");
        }
        for test in &file.tests {
            if let Some(failure) = &test.failure {
                let title = format!("{} > {}", file.path.display(), test.name);
                self.write_failure(&mut out, &title, failure);
            }
        }
        if let Some(failure) = &file.failure {
            self.write_failure(&mut out, &file.path.display().to_string(), failure);
        }
        if all && !file.logs.is_empty() {
            let _ = writeln!(out, "\n  {}", dim("logged:"));
            for line in &file.logs {
                let text = match line.level {
                    Level::Warn | Level::Error => (self.colours.odd)(&line.text),
                    _ => line.text.clone(),
                };
                indent(&mut out, &text);
            }
            out.push('\n');
        }
        out
    }

    fn write_failure(&self, out: &mut String, title: &str, failure: &TestFailure) {
        let Colours { bad, dim, .. } = self.colours;
        let _ = writeln!(out, "\n  {}", bad(title));
        let message: Vec<String> = failure
            .message
            .lines()
            .map(|line| match line.chars().next() {
                Some('-') => (self.colours.good)(line),
                Some('+') => bad(line),
                _ => line.to_owned(),
            })
            .collect();
        indent(out, &message.join("\n"));
        if let Some(Location { file, line, column }) = &failure.location {
            indent(out, &dim(&format!("at {file}:{line}:{column}")));
        }
        if let Some(frame) = &failure.code_frame {
            out.push('\n');
            indent(out, frame);
        }
        if let Some(stack) = &failure.stack
            && stack.lines().count() > 1
        {
            out.push('\n');
            indent(out, &dim(&stack.replace("    at ", "at ")));
        }
        out.push('\n');
    }

    /// The totals of all files.
    pub fn summary(&self, summary: &Summary, files: &[FileResult]) -> String {
        let Colours {
            good,
            bad,
            odd,
            dim,
        } = self.colours;
        let mut parts = Vec::new();
        if summary.failed > 0 {
            parts.push(bad(&format!("{} failed", summary.failed)));
        }
        let broken = files.iter().filter(|file| file.failure.is_some()).count();
        if broken > 0 {
            let noun = if broken == 1 { "file" } else { "files" };
            parts.push(bad(&format!("{broken} {noun} broken")));
        }
        parts.push(good(&format!("{} passed", summary.passed)));
        for (count, status) in [(summary.skipped, "skipped"), (summary.todo, "todo")] {
            if count > 0 {
                parts.push(odd(&format!("{count} {status}")));
            }
        }
        let noun = if summary.files == 1 { "file" } else { "files" };
        let mut out = format!(
            "\n{} in {} {noun} {}\n",
            parts.join(", "),
            summary.files,
            dim(&format!("({:.2} s)", summary.ms / 1_000.0))
        );
        let written: usize = files.iter().map(|file| file.snapshots_written).sum();
        let obsolete: usize = files.iter().map(|file| file.snapshots_obsolete).sum();
        if written > 0 {
            let _ = writeln!(out, "{} written", snapshots(written));
        }
        if obsolete > 0 {
            let belong = if obsolete == 1 { "belongs" } else { "belong" };
            let _ = writeln!(
                out,
                "{} {belong} to no test; --update removes obsolete snapshots",
                snapshots(obsolete)
            );
        }
        out
    }
}

fn snapshots(count: usize) -> String {
    match count {
        1 => "1 snapshot".to_owned(),
        count => format!("{count} snapshots"),
    }
}

fn indent(out: &mut String, text: &str) {
    for line in text.lines() {
        let _ = writeln!(out, "    {line}");
    }
}
