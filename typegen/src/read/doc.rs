//! The comment of a schema: its description, and its constraints as tags.

use serde_json::Value;

use crate::print::clean;
use crate::type_graph::Doc;

/// Characters of a description.
const MAX_TEXT: usize = 2_000;
/// Characters of a tag's value.
const MAX_VALUE: usize = 160;

/// Keywords that become tags of the same name, in the order they are printed.
const CONSTRAINTS: [&str; 17] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "contentEncoding",
    "contentMediaType",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "default",
];

/// The comment for a schema.
pub fn of(schema: &Value) -> Doc {
    let mut doc = Doc {
        text: schema["description"]
            .as_str()
            .map(|text| clean(text, MAX_TEXT))
            .unwrap_or_default(),
        tags: constraints(schema),
    };
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        let of_items: Vec<String> = constraints(items)
            .into_iter()
            .map(|(name, value)| format!("{name} {value}").trim_end().to_owned())
            .collect();
        if !of_items.is_empty() {
            doc.tags.push(("items".to_owned(), of_items.join(", ")));
        }
    }
    if schema["deprecated"] == Value::Bool(true) {
        doc.tags.push(("deprecated".to_owned(), String::new()));
    }
    if let Some(Value::Array(examples)) = schema.get("examples") {
        for example in examples.iter().take(2) {
            doc.tags.push(("example".to_owned(), value(example)));
        }
    }
    doc
}

fn constraints(schema: &Value) -> Vec<(String, String)> {
    let mut tags = Vec::new();
    let is_integer = match &schema["type"] {
        Value::String(name) => name == "integer",
        Value::Array(names) => {
            names.iter().any(|name| name == "integer") && !names.iter().any(|name| name == "number")
        }
        _ => false,
    };
    if is_integer {
        tags.push(("integer".to_owned(), String::new()));
    }
    for key in CONSTRAINTS {
        match schema.get(key) {
            None | Some(Value::Bool(false)) if key != "default" => {}
            None => {}
            Some(Value::Bool(true)) if key != "default" => {
                tags.push((key.to_owned(), String::new()))
            }
            Some(Value::String(text)) if key != "default" => {
                tags.push((key.to_owned(), line(text)))
            }
            Some(other) => tags.push((key.to_owned(), value(other))),
        }
    }
    tags
}

fn value(value: &Value) -> String {
    // Avoids printing a large value only to cut it.
    match value {
        Value::String(text) if text.len() > MAX_VALUE => line(&format!("\"{text}")),
        Value::Array(values) if values.len() > MAX_VALUE => "[...]".to_owned(),
        Value::Object(fields) if fields.len() > MAX_VALUE => "{...}".to_owned(),
        other => line(&other.to_string()),
    }
}

/// The text on one line, cut to the length of a tag's value.
pub fn line(text: &str) -> String {
    clean(text, MAX_VALUE).replace('\n', " ")
}
