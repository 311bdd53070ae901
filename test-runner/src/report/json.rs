//! The JSON report.

use serde::Serialize;

use crate::results::{FileResult, Summary};

#[derive(Serialize)]
struct Document<'a> {
    ok: bool,
    summary: &'a Summary,
    files: &'a [FileResult],
}

pub fn print(files: &[FileResult], summary: &Summary) -> String {
    let document = Document {
        ok: summary.ok(),
        summary,
        files,
    };
    // Only paths that are not UTF-8 can fail, and these were text before.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}
