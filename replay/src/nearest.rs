//! Words for a request that is not in the recording: the nearest one that is, and where it differs.

use std::fmt::Write;

use crate::asked::Asked;
use crate::difference::{self, Difference};
use crate::recording::Entry;

/// Lines of a difference that are shown.
const MAX_LINES: usize = 8;

pub fn explain(asked: &Asked, entries: &[Entry], given: &[bool]) -> String {
    let title = asked.title();
    let key = asked.key();
    let same = entries
        .iter()
        .filter(|entry| entry.asked.key() == key)
        .count();
    if same > 0 {
        return format!(
            "the recording has this {title} {same} times, and this is one more; \
             `--record missing` adds it"
        );
    }
    let details = asked.details();
    let alike = entries
        .iter()
        .zip(given)
        .enumerate()
        .filter(|(_, (entry, _))| kind(&entry.asked) == kind(asked))
        .map(|(index, (entry, given))| {
            let differences = difference::between(&entry.asked.details(), &details);
            // Of equally near ones, one that nobody has used is more likely to be meant.
            ((differences.len(), *given, index), differences)
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

/// What must be equal for two requests to be worth a comparison.
fn kind(asked: &Asked) -> (u8, &str) {
    match asked {
        Asked::Call { tool, .. } => (0, tool),
        Asked::Search { .. } => (1, ""),
        Asked::Describe { .. } => (2, ""),
        Asked::ListResources { .. } => (3, ""),
        Asked::ReadResource { server, .. } => (4, server),
        Asked::ListPrompts { .. } => (5, ""),
        Asked::GetPrompt { name, .. } => (6, name),
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
    let mut titles: Vec<String> = entries.iter().map(|entry| entry.asked.title()).collect();
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
    use crate::recording::Told;
    use serde_json::{Value, json};

    fn entry(tool: &str, args: Value) -> Entry {
        Entry {
            asked: Asked::Call {
                tool: tool.to_owned(),
                args,
            },
            after_ms: 0,
            told: Told::Value(Value::Null),
        }
    }

    #[test]
    fn the_nearest_call_of_the_tool_is_shown_with_its_difference() {
        let entries = [
            entry("fs:read", json!({ "path": "x", "deep": false })),
            entry("fs:read", json!({ "path": "a.json", "deep": true })),
            entry("fs:list", json!({ "path": "b.json", "deep": true })),
        ];
        let asked = entry("fs:read", json!({ "path": "b.json", "deep": true })).asked;
        let told = explain(&asked, &entries, &[false; 3]);
        assert!(told.contains("request 2"), "{told}");
        assert!(
            told.contains("\n  - path: \"a.json\"\n  + path: \"b.json\""),
            "{told}"
        );
    }

    #[test]
    fn a_tool_that_was_never_called_is_told_with_what_was() {
        let entries = [
            entry("fs:read", json!({})),
            entry("fs:read", json!({ "a": 1 })),
        ];
        let told = explain(&entry("fs:write", json!({})).asked, &entries, &[false; 2]);
        assert!(told.contains("has no call of `fs:write`"), "{told}");
        assert!(told.contains("it has call of `fs:read`;"), "{told}");
    }
}
