//! The searchable form of a tool: its fields, and the texts that are embedded.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::stems::spelled_out;

/// Characters of a text that are embedded: about as many as the model reads.
const EMBEDDED_CHARS: usize = 1_000;
/// Values of one enumeration that are indexed; a list of all countries says little about a tool.
const MAX_VALUES: usize = 24;
/// Shortest description, in words, that is embedded on its own.
const STANDALONE_WORDS: usize = 10;
/// Nesting levels of a schema that are read.
const MAX_DEPTH: usize = 3;

/// The searchable fields of one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolDocument {
    /// `server:tool`
    pub id: String,
    /// The server's name in the configuration.
    pub server: String,
    /// The server's own title; empty if it has none.
    pub server_title: String,
    /// The tool's name on its server.
    pub name: String,
    /// The tool's title.
    pub title: Option<String>,
    /// The tool's description.
    pub description: String,
    /// The tool's parameters, nested ones included.
    pub parameters: Vec<Parameter>,
    /// The server's `readOnlyHint`.
    pub read_only: Option<bool>,
    /// The server's `destructiveHint`.
    pub destructive: Option<bool>,
    /// The stems of earlier queries that led to the tool, see [`QueryFeedback`](crate::QueryFeedback).
    pub feedback: Vec<String>,
}

/// A parameter of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameter {
    /// The property's name.
    pub name: String,
    /// The property's description; may be empty.
    pub description: String,
    /// The texts of its `enum`.
    pub values: Vec<String>,
}

/// A tool as its server lists it.
#[derive(Debug, Clone, Copy)]
pub struct ToolDescription<'a> {
    /// The server's name in the configuration.
    pub server: &'a str,
    /// The server's own title.
    pub server_title: Option<&'a str>,
    /// The tool's name on its server.
    pub name: &'a str,
    /// The tool's title.
    pub title: Option<&'a str>,
    /// The tool's description; may be empty.
    pub description: &'a str,
    /// The JSON Schema of the arguments.
    pub input_schema: &'a Value,
    /// MCP's tool annotations.
    pub annotations: Option<&'a Value>,
}

impl ToolDocument {
    /// Extracts the searchable fields of a tool. Any schema is accepted; parts that are not understood
    /// are skipped.
    pub fn new(tool: ToolDescription<'_>) -> Self {
        let hint = |key: &str| tool.annotations?.get(key)?.as_bool();
        let mut parameters = Vec::new();
        read_parameters(tool.input_schema, MAX_DEPTH, &mut parameters);
        Self {
            id: format!("{}:{}", tool.server, tool.name),
            server: tool.server.to_owned(),
            server_title: tool.server_title.unwrap_or_default().to_owned(),
            name: tool.name.to_owned(),
            title: tool.title.map(str::to_owned),
            description: tool.description.to_owned(),
            parameters,
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            feedback: Vec::new(),
        }
    }

    /// The texts whose mean vector is the tool's: the tool with its server's name, the tool without it,
    /// and its description if that is long enough to stand alone. The mean ranks better than each
    /// alone: a server's name blurs the vectors if all tools share it, and says most if they do not.
    pub fn views(&self) -> Vec<String> {
        let name = spelled_out(&self.name);
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|parameter| spelled_out(&parameter.name))
            .collect();
        let described = format!(
            "{name}: {} {}",
            self.description.trim(),
            parameters.join(", ")
        );
        let mut views = vec![
            format!("{} {described}", spelled_out(&self.server)),
            described,
        ];
        if self.description.split_whitespace().count() >= STANDALONE_WORDS {
            views.push(self.description.trim().to_owned());
        }
        for view in &mut views {
            if let Some((end, _)) = view.char_indices().nth(EMBEDDED_CHARS) {
                view.truncate(end);
            }
        }
        views
    }

    /// Identifies a vector: a digest of the views and the model's name.
    pub fn fingerprint(views: &[String], model: &str) -> String {
        let mut digest = Sha256::new();
        digest.update(model);
        for view in views {
            digest.update([0]);
            digest.update(view);
        }
        let digest = digest.finalize();
        digest
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// Collects the parameters, also those of nested objects: many servers wrap all of theirs into one.
fn read_parameters(schema: &Value, depth: usize, found: &mut Vec<Parameter>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    for (name, property) in properties {
        let described = property.get("description").and_then(Value::as_str);
        found.push(Parameter {
            name: name.clone(),
            description: described.unwrap_or_default().to_owned(),
            values: values(property),
        });
        if depth > 1 {
            read_parameters(property, depth - 1, found);
            if let Some(items) = property.get("items") {
                read_parameters(items, depth - 1, found);
            }
        }
    }
}

fn values(property: &Value) -> Vec<String> {
    let listed = property.get("enum").and_then(Value::as_array);
    let texts = listed.into_iter().flatten().filter_map(Value::as_str);
    texts.take(MAX_VALUES).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(schema: Value) -> ToolDocument {
        ToolDocument::new(ToolDescription {
            server: "fs",
            server_title: None,
            name: "readFile",
            title: None,
            description: "Reads a file.",
            input_schema: &schema,
            annotations: Some(&json!({ "readOnlyHint": true })),
        })
    }

    #[test]
    fn the_views_have_name_description_and_parameters() {
        let document = document(json!({ "properties": {
            "textEncoding": { "description": "how", "enum": ["utf8", "latin1", 7] },
        } }));
        assert_eq!(document.id, "fs:readFile");
        assert_eq!(
            document.views(),
            [
                "fs read File: Reads a file. text Encoding",
                "read File: Reads a file. text Encoding"
            ]
        );
        let encoding = &document.parameters[0];
        assert_eq!(encoding.values, ["utf8", "latin1"]);
        assert_eq!(
            (document.read_only, document.destructive),
            (Some(true), None)
        );
    }

    #[test]
    fn wrapped_arguments_are_read() {
        let document = document(json!({ "properties": { "input": {
            "properties": { "city": { "type": "string" } },
        } } }));
        let names: Vec<&str> = document
            .parameters
            .iter()
            .map(|p| p.name.as_str())
            .collect();
        assert_eq!(names, ["input", "city"]);
    }

    #[test]
    fn odd_schemas_have_no_parameters() {
        for schema in [
            json!(null),
            json!([]),
            json!({ "properties": 7 }),
            json!("x"),
        ] {
            assert!(document(schema).parameters.is_empty());
        }
    }

    #[test]
    fn the_fingerprint_changes_with_the_views_and_the_model() {
        let of = |text: &str, model| ToolDocument::fingerprint(&[text.to_owned()], model);
        let one = of("a", "m");
        assert_eq!(one, of("a", "m"));
        assert_ne!(one, of("b", "m"));
        assert_ne!(one, of("a", "n"));
        assert_eq!(one.len(), 32);
    }
}
