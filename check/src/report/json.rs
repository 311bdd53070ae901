//! Our own form: every finding with its file.

use serde::Serialize;

use super::Checked;
use crate::Finding;

#[derive(Serialize)]
struct Report<'a> {
    files: usize,
    findings: Vec<InFile<'a>>,
}

#[derive(Serialize)]
struct InFile<'a> {
    file: &'a str,
    #[serde(flatten)]
    finding: &'a Finding,
}

pub fn json(checked: &[Checked]) -> String {
    let report = Report {
        files: checked.len(),
        findings: checked
            .iter()
            .flat_map(|one| {
                one.findings.iter().map(|finding| InFile {
                    file: &one.file,
                    finding,
                })
            })
            .collect(),
    };
    // Infallible: no map in it has keys that are no strings.
    serde_json::to_string_pretty(&report).unwrap_or_default()
}
