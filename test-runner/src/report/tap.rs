//! The Test Anything Protocol, version 14.

use std::fmt::Write;

use crate::results::{Failed, FileResult, Status};

pub fn print(files: &[FileResult]) -> String {
    let mut out = String::from("TAP version 14\n");
    let mut number = 0;
    for file in files {
        let path = file.path.to_string_lossy();
        for test in &file.tests {
            number += 1;
            let name = describe(&format!("{path}: {}", test.name));
            // Writing to a string cannot fail.
            let _ = match test.status {
                Status::Passed => writeln!(out, "ok {number} - {name}"),
                Status::Failed => writeln!(out, "not ok {number} - {name}"),
                Status::Skipped => writeln!(out, "ok {number} - {name} # SKIP"),
                Status::Todo => writeln!(out, "not ok {number} - {name} # TODO"),
            };
            if let Some(failed) = &test.failed {
                diagnose(&mut out, failed);
            }
        }
        if let Some(failed) = &file.failed {
            number += 1;
            let _ = writeln!(out, "not ok {number} - {}", describe(&path));
            diagnose(&mut out, failed);
        }
    }
    let _ = writeln!(out, "1..{number}");
    out
}

/// A `#` would begin a directive.
fn describe(name: &str) -> String {
    name.replace('\\', "\\\\")
        .replace('#', "\\#")
        .replace(char::is_control, " ")
}

fn diagnose(out: &mut String, failed: &Failed) {
    out.push_str("  ---\n  message: |\n");
    for line in failed.message.lines() {
        let _ = writeln!(out, "    {}", line.replace(char::is_control, " "));
    }
    if let Some(place) = &failed.place {
        let _ = writeln!(
            out,
            "  at: \"{}:{}:{}\"",
            place.file, place.line, place.column
        );
    }
    out.push_str("  ...\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_be_a_directive() {
        assert_eq!(describe("issue #7\nok 9"), "issue \\#7 ok 9");
    }
}
