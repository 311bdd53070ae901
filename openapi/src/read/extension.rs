//! `x-mcp-tool`: what the author of a document says to those who make tools of it.

use serde_json::Value;

use crate::documents::Place;
use crate::operation::ErrorPattern;

/// Items of a list that are kept.
const MAX_ITEMS: usize = 20;
/// Bytes of one example.
const MAX_EXAMPLE: usize = 400;

/// The extension of one operation.
#[derive(Debug, Default)]
pub struct ToolExtension {
    /// `enabled: false`: the operation is not offered.
    pub is_disabled: bool,
    /// The name of the tool in place of the operation id.
    pub name: Option<String>,
    /// The description in place of that of the operation.
    pub description: Option<String>,
    /// Words that a search finds it by.
    pub capabilities: Vec<String>,
    /// Calls or questions that it is for.
    pub examples: Vec<String>,
    /// What its failures mean.
    pub error_patterns: Vec<ErrorPattern>,
}

/// Reads the extension of an operation.
pub fn read(operation: Place<'_>) -> ToolExtension {
    let Some(place) = operation.get("x-mcp-tool") else {
        return ToolExtension::default();
    };
    let texts = |key: &str| -> Vec<String> {
        let items = place.items(key).take(MAX_ITEMS);
        items
            .map(|item| match item.value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
            .filter(|text| text.len() <= MAX_EXAMPLE)
            .collect()
    };
    ToolExtension {
        is_disabled: place.value.get("enabled") == Some(&Value::Bool(false)),
        name: place.text("name").map(str::to_owned),
        description: place.text("description").map(str::to_owned),
        capabilities: texts("capabilities"),
        examples: texts("examples"),
        error_patterns: place
            .items("error_patterns")
            .take(MAX_ITEMS)
            .filter_map(error_pattern)
            .collect(),
    }
}

fn error_pattern(place: Place<'_>) -> Option<ErrorPattern> {
    let text = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| place.text(key))
            .map(str::to_owned)
    };
    let status = ["status", "status_code", "code"]
        .iter()
        .find_map(|key| place.value.get(*key)?.as_u64());
    Some(ErrorPattern {
        pattern: match status {
            Some(status) => status.to_string(),
            None => text(&["pattern", "status", "code", "match"])?,
        },
        hint: text(&["hint", "recovery", "resolution", "message", "description"])?,
    })
}
