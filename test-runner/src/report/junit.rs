//! JUnit XML, which CI systems read.

use std::fmt::Write;

use crate::results::{FileResult, Status, Summary, TestFailure, TestResult};

pub fn print(files: &[FileResult], summary: &Summary) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let tests = summary.passed + summary.failed + summary.skipped + summary.todo;
    let errors = files.iter().filter(|file| file.failure.is_some()).count();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<testsuites name=\"pml test\" tests=\"{tests}\" failures=\"{}\" errors=\"{errors}\" time=\"{:.3}\">",
        summary.failed,
        summary.ms / 1_000.0
    );
    for file in files {
        write_suite(&mut out, file);
    }
    out.push_str("</testsuites>\n");
    out
}

fn write_suite(out: &mut String, file: &FileResult) {
    let path = escape(&file.path.to_string_lossy());
    let errors = usize::from(file.failure.is_some());
    let skipped = file.count(Status::Skipped) + file.count(Status::Todo);
    let _ = writeln!(
        out,
        "  <testsuite name=\"{path}\" tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{:.3}\">",
        file.tests.len(),
        file.count(Status::Failed),
        file.ms / 1_000.0
    );
    for test in &file.tests {
        write_case(out, &path, test);
    }
    if let Some(failure) = &file.failure {
        let _ = writeln!(
            out,
            "    <testcase name=\"(the file)\" classname=\"{path}\">"
        );
        write_failure(out, "error", failure);
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n");
}

fn write_case(out: &mut String, path: &str, test: &TestResult) {
    let name = escape(&test.name);
    let time = test.ms / 1_000.0;
    let _ = write!(
        out,
        "    <testcase name=\"{name}\" classname=\"{path}\" time=\"{time:.3}\""
    );
    match (test.status, &test.failure) {
        (Status::Skipped | Status::Todo, _) => {
            out.push_str(">\n      <skipped/>\n    </testcase>\n");
        }
        (_, Some(failure)) => {
            out.push_str(">\n");
            write_failure(out, "failure", failure);
            out.push_str("    </testcase>\n");
        }
        (_, None) => out.push_str("/>\n"),
    }
}

fn write_failure(out: &mut String, element: &str, failure: &TestFailure) {
    let first = failure.message.lines().next().unwrap_or_default();
    let mut text = failure.message.clone();
    if let Some(stack) = &failure.stack {
        text.push('\n');
        text.push_str(stack);
    }
    let _ = writeln!(
        out,
        "      <{element} message=\"{}\">{}</{element}>",
        escape(first),
        escape(&text)
    );
}

/// Escapes markup. XML 1.0 cannot express most control characters, not even as references.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(c),
            c if c < ' ' || matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_break_out_of_its_element() {
        assert_eq!(
            escape("a<b>&\"c\u{1b}\n"),
            "a&lt;b&gt;&amp;&quot;c\u{fffd}\n"
        );
    }
}
