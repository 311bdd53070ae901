//! The tags of a JSDoc comment that say more about a value than its type does.

use serde_json::{Value, json};

use super::doc::Doc;

/// Tags with a number, and the keyword that each is.
const NUMBERS: [&str; 9] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

/// The same schema with the description and the constraints of a comment.
pub fn described(mut schema: Value, doc: &Doc, description: Option<&str>) -> Value {
    let description = description.unwrap_or(&doc.text);
    let has_tags = doc.tags.iter().any(|(name, _)| is_constraint(name));
    if description.is_empty() && !has_tags {
        return schema;
    }
    if !schema.is_object() {
        return schema;
    }
    if !description.is_empty() {
        schema["description"] = description.into();
    }
    for (name, text) in &doc.tags {
        add(&mut schema, name, text);
    }
    schema
}

fn is_constraint(name: &str) -> bool {
    NUMBERS.contains(&name)
        || matches!(
            name,
            "pattern" | "format" | "integer" | "default" | "example" | "deprecated" | "uniqueItems"
        )
}

fn add(schema: &mut Value, name: &str, text: &str) {
    if NUMBERS.contains(&name) {
        if let Ok(number) = text.parse::<serde_json::Number>() {
            schema[name] = Value::Number(number);
        }
        return;
    }
    match name {
        "pattern" | "format" if !text.is_empty() => schema[name] = text.into(),
        "integer" if schema["type"] == "number" => schema["type"] = "integer".into(),
        "default" => schema["default"] = value(text),
        "example" if !text.is_empty() => {
            if !schema["examples"].is_array() {
                schema["examples"] = json!([]);
            }
            if let Some(examples) = schema["examples"].as_array_mut() {
                examples.push(value(text));
            }
        }
        "deprecated" => schema["deprecated"] = true.into(),
        "uniqueItems" => schema["uniqueItems"] = true.into(),
        _ => {}
    }
}

/// JSON, or the text itself.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
