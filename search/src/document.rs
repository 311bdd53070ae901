//! A tool as search reads it.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::words::spelled_out;

/// Characters of the text that is embedded: about what the model reads of it.
const EMBEDDED_CHARS: usize = 1_000;
/// Values of one enumeration that count as words; a list of all countries says little.
const VALUES: usize = 24;
/// Words of a description that says by itself what a tool does.
const TELLING_WORDS: usize = 10;
/// How deep a schema is read.
const DEPTH: usize = 3;

/// What there is to find about one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// `server:tool`
    pub id: String,
    pub server: String,
    /// What the server calls itself, where that is another name.
    pub server_title: String,
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub parameters: Vec<Parameter>,
    /// What the server says about its tool, where it says anything.
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    /// The words of earlier queries that led to it, as stems.
    pub asked: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub description: String,
    pub values: Vec<String>,
}

/// What a server calls its own tool.
#[derive(Debug, Clone, Copy)]
pub struct Described<'a> {
    pub server: &'a str,
    pub server_title: Option<&'a str>,
    pub name: &'a str,
    pub title: Option<&'a str>,
    pub description: &'a str,
    pub input_schema: &'a Value,
    pub annotations: Option<&'a Value>,
}

impl Document {
    pub fn new(tool: Described<'_>) -> Self {
        let hint = |key: &str| tool.annotations?.get(key)?.as_bool();
        let mut parameters = Vec::new();
        read_parameters(tool.input_schema, DEPTH, &mut parameters);
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
            asked: Vec::new(),
        }
    }

    /// The texts whose vectors make up that of the tool: the tool, the tool of its server, and
    /// its description where that can stand alone. Each alone ranks worse than their mean: a
    /// server's name blurs the vectors where all tools share it, and tells most where not.
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
        if self.description.split_whitespace().count() >= TELLING_WORDS {
            views.push(self.description.trim().to_owned());
        }
        for view in &mut views {
            if let Some((end, _)) = view.char_indices().nth(EMBEDDED_CHARS) {
                view.truncate(end);
            }
        }
        views
    }

    /// Changes whenever the vector would: with the views, and with the model.
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

/// Parameters of objects inside the arguments count as well: many servers wrap all of theirs
/// into one.
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
    texts.take(VALUES).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(schema: Value) -> Document {
        Document::new(Described {
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
    fn wrapped_arguments_are_read_and_loops_end() {
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
        let of = |text: &str, model| Document::fingerprint(&[text.to_owned()], model);
        let one = of("a", "m");
        assert_eq!(one, of("a", "m"));
        assert_ne!(one, of("b", "m"));
        assert_ne!(one, of("a", "n"));
        assert_eq!(one.len(), 32);
    }
}
