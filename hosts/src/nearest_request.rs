//! The message for a request that is not in the recording: the nearest one that is, and how it
//! differs.

use std::fmt::Write;

use crate::json_diff::{self, Difference};
use crate::recorded_request::RecordedRequest;
use crate::recording::Entry;

/// How many differences or titles are shown.
const MAX_LINES: usize = 8;

/// Explains why the recording has no unused answer to a request.
pub fn explain(request: &RecordedRequest, entries: &[Entry], used: &[bool]) -> String {
    let title = request.title();
    let key = request.key();
    let same = entries
        .iter()
        .filter(|entry| entry.request.key() == key)
        .count();
    if same > 0 {
        return format!(
            "the recording has this {title} {same} times, and this is one more; \
             `--record missing` adds it"
        );
    }
    let details = request.details();
    let alike = entries
        .iter()
        .zip(used)
        .enumerate()
        .filter(|(_, (entry, _))| kind(&entry.request) == kind(request))
        .map(|(index, (entry, used))| {
            let differences = json_diff::between(&entry.request.details(), &details);
            // Of equally near ones, an unused one is more likely to be meant.
            ((differences.len(), *used, index), differences)
        })
        .min_by_key(|(rank, _)| *rank);
    match alike {
        Some(((_, _, index), differences)) => format!(
            "the recording has no such {title}; the nearest, request {}, differs \
             (- recorded, + asked):{}\n`--record missing` adds it",
            index + 1,
            lines(&differences)
        ),
        None => format!(
            "the recording has no {title}; it has {}; `--record missing` adds it",
            titles(entries)
        ),
    }
}

/// What must be equal for two requests to be worth comparing.
fn kind(request: &RecordedRequest) -> (u8, &str) {
    match request {
        RecordedRequest::Call { tool, .. } => (0, tool),
        RecordedRequest::Search { .. } => (1, ""),
        RecordedRequest::Describe { .. } => (2, ""),
        RecordedRequest::ListResources { .. } => (3, ""),
        RecordedRequest::ReadResource { server, .. } => (4, server),
        RecordedRequest::ListPrompts { .. } => (5, ""),
        RecordedRequest::GetPrompt { name, .. } => (6, name),
        RecordedRequest::Load { .. } => (7, ""),
        RecordedRequest::ApproveTask { task, .. } => (8, task),
    }
}

fn lines(differences: &[Difference]) -> String {
    let mut text = String::new();
    for difference in differences.iter().take(MAX_LINES) {
        let Difference {
            path,
            recorded,
            asked,
        } = difference;
        // Writing to a string cannot fail.
        if let Some(value) = recorded {
            let _ = write!(text, "\n  - {path}: {value}");
        }
        if let Some(value) = asked {
            let _ = write!(text, "\n  + {path}: {value}");
        }
    }
    if differences.len() > MAX_LINES {
        let _ = write!(text, "\n  and {} more", differences.len() - MAX_LINES);
    }
    text
}

fn titles(entries: &[Entry]) -> String {
    let mut titles: Vec<String> = entries.iter().map(|entry| entry.request.title()).collect();
    titles.sort();
    titles.dedup();
    let more = titles.len().saturating_sub(MAX_LINES);
    titles.truncate(MAX_LINES);
    match (titles.is_empty(), more) {
        (true, _) => "nothing at all".to_owned(),
        (false, 0) => titles.join(", "),
        (false, _) => format!("{} and {more} more", titles.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::RecordedAnswer;
    use serde_json::{Value, json};

    fn entry(tool: &str, args: Value) -> Entry {
        Entry {
            request: RecordedRequest::Call {
                tool: tool.to_owned(),
                args,
            },
            after_ms: 0,
            answer: RecordedAnswer::Value(Value::Null),
        }
    }

    #[test]
    fn the_nearest_call_of_the_tool_is_shown_with_its_difference() {
        let entries = [
            entry("fs:read", json!({ "path": "x", "deep": false })),
            entry("fs:read", json!({ "path": "a.json", "deep": true })),
            entry("fs:list", json!({ "path": "b.json", "deep": true })),
        ];
        let asked = entry("fs:read", json!({ "path": "b.json", "deep": true })).request;
        let message = explain(&asked, &entries, &[false; 3]);
        assert!(message.contains("request 2"), "{message}");
        assert!(
            message.contains("\n  - path: \"a.json\"\n  + path: \"b.json\""),
            "{message}"
        );
    }

    #[test]
    fn a_tool_that_was_never_called_is_reported_with_what_was() {
        let entries = [
            entry("fs:read", json!({})),
            entry("fs:read", json!({ "a": 1 })),
        ];
        let message = explain(&entry("fs:write", json!({})).request, &entries, &[false; 2]);
        assert!(message.contains("has no call of `fs:write`"), "{message}");
        assert!(message.contains("it has call of `fs:read`;"), "{message}");
    }
}
