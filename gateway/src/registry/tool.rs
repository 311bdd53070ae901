//! A tool of a server.

use std::sync::OnceLock;

use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::arguments::ArgumentCheck;
use crate::ToolId;
use crate::printable::is_tool_name;

/// A tool, as its server describes it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// `server:tool`.
    pub id: ToolId,
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description; empty if there is none.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub input_schema: Value,
    /// The JSON Schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints of the server about its tool. They may be wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// A digest of name, description, schemas and annotations.
    pub fingerprint: String,
    #[serde(skip)]
    check: OnceLock<ArgumentCheck>,
}

impl Tool {
    /// Reads one element of `tools/list`. Real servers leave out required fields, so only the name is
    /// needed; without an input schema any arguments are accepted. A name outside the specification's
    /// alphabet is refused: it is shown in lists, approvals, signatures and logs.
    pub(crate) fn read(server: &str, described: &Value) -> Option<Self> {
        let name = described["name"]
            .as_str()
            .filter(|name| is_tool_name(name))?;
        let text = |key: &str| described[key].as_str().map(str::to_owned);
        let object = |key: &str| {
            described
                .get(key)
                .filter(|value| value.is_object())
                .cloned()
        };
        Some(Self {
            id: ToolId::new(server, name),
            title: text("title").or_else(|| {
                described["annotations"]["title"]
                    .as_str()
                    .map(str::to_owned)
            }),
            description: text("description").unwrap_or_default(),
            input_schema: object("inputSchema").unwrap_or_else(|| json!({ "type": "object" })),
            output_schema: object("outputSchema"),
            annotations: object("annotations"),
            fingerprint: fingerprint(described),
            check: OnceLock::new(),
        })
    }

    /// Validates `arguments` against the input schema. The error says where they are invalid.
    pub(crate) fn check_arguments(&self, arguments: &Value) -> Result<(), String> {
        self.check
            .get_or_init(|| ArgumentCheck::new(&self.input_schema))
            .check(arguments)
    }
}

fn fingerprint(described: &Value) -> String {
    let mut kept = Map::new();
    for key in [
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
    ] {
        if let Some(value) = described.get(key) {
            kept.insert(key.to_owned(), value.clone());
        }
    }
    // Sorted keys: the same description always has the same digest.
    let digest = Sha256::digest(sorted(Value::Object(kept)).to_string());
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map
                .into_iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_without_schema_or_description_is_still_a_tool() {
        let tool = Tool::read("s", &json!({ "name": "go" })).unwrap();
        assert_eq!(tool.id.as_str(), "s:go");
        assert!(tool.check_arguments(&json!({ "anything": 1 })).is_ok());
        assert!(Tool::read("s", &json!({ "description": "no name" })).is_none());
    }

    #[test]
    fn a_server_cannot_write_lines_of_its_own_with_a_name() {
        for name in [
            "weather\nbank:transfer_money",
            "list_files (read only)",
            "a\u{202e}b",
        ] {
            assert!(
                Tool::read("s", &json!({ "name": name })).is_none(),
                "{name}"
            );
        }
    }

    #[test]
    fn the_fingerprint_follows_meaning_and_not_the_order_of_keys() {
        let print = |json: &str| {
            Tool::read("s", &serde_json::from_str(json).unwrap())
                .unwrap()
                .fingerprint
        };
        let first =
            print(r#"{"name":"a","description":"d","inputSchema":{"type":"object","title":"x"}}"#);
        assert_eq!(
            first,
            print(r#"{"inputSchema":{"title":"x","type":"object"},"description":"d","name":"a"}"#)
        );
        assert_ne!(
            first,
            print(r#"{"name":"a","description":"e","inputSchema":{"type":"object","title":"x"}}"#)
        );
    }
}
