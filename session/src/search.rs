//! Finding tools by words: how many words of the query a tool mentions.

use std::collections::HashSet;
use std::sync::Arc;

use pml_gateway::Tool;
use serde_json::Value;

/// Words that say nothing about a tool.
const FILLERS: [&str; 16] = [
    "a", "all", "an", "and", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to",
    "tool", "with",
];

/// A word of the id says more about a tool than one somewhere in its description.
const IN_ID: f64 = 1.0;
const ELSEWHERE: f64 = 0.8;
/// Only a query that is a tool's name is certain.
const NEARLY_CERTAIN: f64 = 0.99;

pub struct Found {
    pub tool: Arc<Tool>,
    /// From above 0 to 1.
    pub score: f64,
}

/// The tools that mention anything of the query, best first.
pub fn rank(query: &str, tools: Vec<Arc<Tool>>) -> Vec<Found> {
    let mut wanted = words(query);
    if wanted.iter().any(|word| !is_filler(word)) {
        wanted.retain(|word| !is_filler(word));
    }
    let mut found: Vec<Found> = tools
        .into_iter()
        .map(|tool| Found {
            score: score(query, &wanted, &tool),
            tool,
        })
        .filter(|found| found.score > 0.0)
        .collect();
    found.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.tool.id.as_str().cmp(b.tool.id.as_str()))
    });
    found
}

fn score(query: &str, wanted: &HashSet<String>, tool: &Tool) -> f64 {
    let query = query.trim();
    if query.eq_ignore_ascii_case(tool.id.as_str()) || query.eq_ignore_ascii_case(tool.id.tool()) {
        return 1.0;
    }
    let in_id = words(tool.id.as_str());
    let mut elsewhere = words(&tool.description);
    elsewhere.extend(tool.title.as_deref().map(words).unwrap_or_default());
    if let Some(Value::Object(parameters)) = tool.input_schema.get("properties") {
        elsewhere.extend(parameters.keys().flat_map(|name| words(name)));
    }
    let worth: f64 = wanted
        .iter()
        .map(
            |word| match (in_id.contains(word), elsewhere.contains(word)) {
                (true, _) => IN_ID,
                (false, true) => ELSEWHERE,
                (false, false) => 0.0,
            },
        )
        .sum();
    (worth / wanted.len().max(1) as f64).min(NEARLY_CERTAIN)
}

fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// The words of a text or an identifier: `readFile`, `read_file` and `Read files` have the same.
fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    for part in text.split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        let mut after_small = false;
        for c in part.chars() {
            if c.is_uppercase() && after_small {
                words.insert(stem(std::mem::take(&mut word)));
            }
            after_small = !c.is_uppercase();
            word.extend(c.to_lowercase());
        }
        if !word.is_empty() {
            words.insert(stem(word));
        }
    }
    words
}

/// One form for the singular and the plural.
fn stem(mut word: String) -> String {
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_texts_are_split_alike() {
        let expected: HashSet<String> = ["read", "file"].map(str::to_owned).into();
        for text in [
            "readFile",
            "read_file",
            "Read-Files",
            "read.file",
            "READ FILE",
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        assert!(words("parseJSONText").contains("parse"));
    }

    #[test]
    fn fillers_do_not_count() {
        assert!(
            words("a tool for the files")
                .iter()
                .filter(|word| !is_filler(word))
                .eq(["file"])
        );
    }
}
