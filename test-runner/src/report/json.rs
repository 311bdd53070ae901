//! One JSON document.

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
    // Paths are the only part that could be no JSON, and they were text before.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}
