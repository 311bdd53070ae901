//! SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use super::CheckedFile;
use crate::{Finding, Position, Rule};

/// One SARIF log, with a fix for each finding that has one. `version` is that of pml.
pub fn sarif(files: &[CheckedFile], version: &str) -> String {
    let rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|rule| json!({ "id": rule.name(), "shortDescription": { "text": rule.about() } }))
        .collect();
    let results: Vec<Value> = files
        .iter()
        .flat_map(|checked| {
            checked
                .findings
                .iter()
                .map(|finding| result(&checked.file, finding))
        })
        .collect();
    let report = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "pml check", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{report:#}")
}

fn result(file: &str, finding: &Finding) -> Value {
    let artifact = json!({ "uri": uri(file) });
    let index = Rule::ALL.iter().position(|rule| *rule == finding.rule);
    let mut result = json!({
        "ruleId": finding.rule.name(),
        "ruleIndex": index,
        "level": "error",
        "message": { "text": finding.message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": artifact,
            "region": region(finding.start, finding.end),
        } }],
    });
    if let Some(fix) = &finding.fix {
        result["fixes"] = json!([{
            "description": { "text": fix.about },
            "artifactChanges": [{
                "artifactLocation": artifact,
                "replacements": [{
                    "deletedRegion": region(fix.start, fix.end),
                    "insertedContent": { "text": fix.replacement },
                }],
            }],
        }]);
    }
    result
}

fn region(start: Position, end: Position) -> Value {
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

/// A path as a relative URI reference.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'\\' => out.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
