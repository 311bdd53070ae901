//! The JSON report: every finding with its file.

use serde::Serialize;

use super::CheckedFile;
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

/// One JSON document with every finding.
pub fn json(files: &[CheckedFile]) -> String {
    let report = Report {
        files: files.len(),
        findings: files
            .iter()
            .flat_map(|checked| {
                checked.findings.iter().map(|finding| InFile {
                    file: &checked.file,
                    finding,
                })
            })
            .collect(),
    };
    // Infallible: every key is a string.
    serde_json::to_string_pretty(&report).unwrap_or_default()
}
