//! The Test Anything Protocol, version 14.

use std::fmt::Write;

use crate::results::{FileResult, Status, TestFailure};

pub fn print(files: &[FileResult]) -> String {
    let mut out = String::from("TAP version 14\n");
    let mut number = 0;
    for file in files {
        let path = file.path.to_string_lossy();
        for test in &file.tests {
            number += 1;
            let name = escape(&format!("{path}: {}", test.name));
            // Writing to a string cannot fail.
            let _ = match test.status {
                Status::Passed => writeln!(out, "ok {number} - {name}"),
                Status::Failed => writeln!(out, "not ok {number} - {name}"),
                Status::Skipped => writeln!(out, "ok {number} - {name} # SKIP"),
                Status::Todo => writeln!(out, "not ok {number} - {name} # TODO"),
            };
            if let Some(failure) = &test.failure {
                write_diagnostic(&mut out, failure);
            }
        }
        if let Some(failure) = &file.failure {
            number += 1;
            let _ = writeln!(out, "not ok {number} - {}", escape(&path));
            write_diagnostic(&mut out, failure);
        }
    }
    let _ = writeln!(out, "1..{number}");
    out
}

/// Escapes a description: `#` would begin a directive.
fn escape(name: &str) -> String {
    name.replace('\\', "\\\\")
        .replace('#', "\\#")
        .replace(char::is_control, " ")
}

/// The YAML block of a failure.
fn write_diagnostic(out: &mut String, failure: &TestFailure) {
    out.push_str("  ---\n  message: |\n");
    for line in failure.message.lines() {
        let _ = writeln!(out, "    {}", line.replace(char::is_control, " "));
    }
    if let Some(location) = &failure.location {
        let _ = writeln!(
            out,
            "  at: \"{}:{}:{}\"",
            location.file, location.line, location.column
        );
    }
    out.push_str("  ...\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_be_a_directive() {
        assert_eq!(escape("issue #7\nok 9"), "issue \\#7 ok 9");
    }
}
