//! Workflow commands of GitHub Actions, which shows them beside the lines.

use super::Checked;

pub fn github(checked: &[Checked]) -> String {
    let mut out = String::new();
    for one in checked {
        for finding in &one.findings {
            let fix = match &finding.fix {
                Some(fix) => format!("\nfix: {}", fix.about),
                None => String::new(),
            };
            // A range over several lines takes no columns.
            let columns = match finding.start.line == finding.end.line {
                true => format!(
                    ",col={},endColumn={}",
                    finding.start.column, finding.end.column
                ),
                false => String::new(),
            };
            out.push_str(&format!(
                "::error file={},line={},endLine={}{columns},title={}::{}\n",
                property(&one.file),
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
