//! Workflow commands of GitHub Actions, which annotate the lines of a pull request.

use super::CheckedFile;

/// One `::error` command for each finding.
pub fn github(files: &[CheckedFile]) -> String {
    let mut out = String::new();
    for checked in files {
        for finding in &checked.findings {
            let fix = match &finding.fix {
                Some(fix) => format!("\nfix: {}", fix.about),
                None => String::new(),
            };
            // GitHub ignores columns of a range over several lines.
            let columns = match finding.start.line == finding.end.line {
                true => format!(
                    ",col={},endColumn={}",
                    finding.start.column, finding.end.column
                ),
                false => String::new(),
            };
            out.push_str(&format!(
                "::error file={},line={},endLine={}{columns},title={}::{}\n",
                property(&checked.file),
                finding.start.line,
                finding.end.line,
                property(&format!("pml check: {}", finding.rule.name())),
                text(&format!("{}{fix}", finding.message)),
            ));
        }
    }
    out
}

fn text(value: &str) -> String {
    value
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(value: &str) -> String {
    text(value).replace(':', "%3A").replace(',', "%2C")
}
