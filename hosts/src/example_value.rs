//! Example values for an output schema: the results of calls that are not sent.

use std::cell::Cell;

use serde_json::{Map, Value, json};

/// The depth limit of an example. It also ends the expansion of a recursive schema.
const MAX_DEPTH: usize = 8;

/// Values of an example. A definition that refers to itself 26 times has 26^8 within the depth limit.
const MAX_VALUES: usize = 10_000;

/// The smallest plausible value: the example, default or first enum value of the schema, else one made
/// of its types.
pub fn example_of(schema: &Value) -> Value {
    let document = Document {
        root: schema,
        values_left: Cell::new(MAX_VALUES),
    };
    make(schema, &document, MAX_DEPTH)
}

/// The document that references point into, and how many values may still be made.
struct Document<'a> {
    root: &'a Value,
    values_left: Cell<usize>,
}

fn make(schema: &Value, root: &Document<'_>, depth: usize) -> Value {
    let Some(values_left) = root.values_left.get().checked_sub(1) else {
        return Value::Null;
    };
    root.values_left.set(values_left);
    if depth == 0 {
        return Value::Null;
    }
    if let Some(given) = given(schema) {
        return given.clone();
    }
    if let Some(target) = schema["$ref"]
        .as_str()
        .and_then(|to| resolve(to, root.root))
    {
        return make(target, root, depth - 1);
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(first) = schema[key].as_array().and_then(|choices| prefer(choices)) {
            return make(first, root, depth - 1);
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        return all_of(schema, parts, root, depth);
    }
    match type_of(schema) {
        "object" => Value::Object(object(schema, root, depth)),
        "array" => array(schema, root, depth),
        "string" => Value::String(string(schema)),
        "integer" => number(schema, 1),
        "number" => number(schema, 1),
        "boolean" => Value::Bool(true),
        _ => Value::Null,
    }
}

fn given(schema: &Value) -> Option<&Value> {
    schema
        .get("const")
        .or_else(|| schema["examples"].as_array()?.first())
        .or_else(|| schema.get("example"))
        .or_else(|| schema.get("default"))
        .or_else(|| schema["enum"].as_array()?.first())
}

fn resolve<'a>(reference: &str, root: &'a Value) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// The first choice other than `null`.
fn prefer(choices: &[Value]) -> Option<&Value> {
    choices
        .iter()
        .find(|choice| choice["type"] != "null")
        .or(choices.first())
}

fn all_of(schema: &Value, parts: &[Value], root: &Document<'_>, depth: usize) -> Value {
    let mut whole = object(schema, root, depth);
    for part in parts {
        match make(part, root, depth - 1) {
            Value::Object(fields) => whole.extend(fields),
            other if whole.is_empty() => return other,
            _ => {}
        }
    }
    Value::Object(whole)
}

fn type_of(schema: &Value) -> &str {
    let named = match &schema["type"] {
        Value::String(one) => Some(one.as_str()),
        Value::Array(several) => several
            .iter()
            .filter_map(Value::as_str)
            .find(|name| *name != "null"),
        _ => None,
    };
    named.unwrap_or_else(|| {
        // Without `type`, the other keywords show the type.
        match (schema.get("properties"), schema.get("items")) {
            (Some(_), _) => "object",
            (None, Some(_)) => "array",
            (None, None) => "null",
        }
    })
}

fn object(schema: &Value, root: &Document<'_>, depth: usize) -> Map<String, Value> {
    let Some(properties) = schema["properties"].as_object() else {
        return Map::new();
    };
    let fields = properties
        .iter()
        .map(|(name, schema)| (name.clone(), make(schema, root, depth - 1)));
    fields.collect()
}

fn array(schema: &Value, root: &Document<'_>, depth: usize) -> Value {
    if let Some(items) = schema["prefixItems"].as_array() {
        return items
            .iter()
            .map(|item| make(item, root, depth - 1))
            .collect();
    }
    // At the depth limit of a recursive schema, `[]` and not `[null]`.
    if depth == 1 || schema.get("items").is_none() {
        return json!([]);
    }
    json!([make(&schema["items"], root, depth - 1)])
}

fn string(schema: &Value) -> String {
    let text = match schema["format"].as_str() {
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("date") => "2026-01-01",
        Some("time") => "00:00:00Z",
        Some("email") => "someone@example.com",
        Some("uri" | "url") => "https://example.com/",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        _ => "text",
    };
    let shortest = schema["minLength"].as_u64().unwrap_or(0).min(1_000) as usize;
    let longest = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
    let padded = format!("{text:x<shortest$}");
    padded
        .chars()
        .take(usize::try_from(longest).unwrap_or(usize::MAX))
        .collect()
}

fn number(schema: &Value, usual: i64) -> Value {
    if let Some(least) = schema.get("minimum").filter(|least| least.is_number()) {
        return least.clone();
    }
    if let Some(below) = schema["exclusiveMinimum"].as_i64() {
        return json!(below.saturating_add(1));
    }
    match schema["maximum"].as_i64() {
        Some(most) if most < usual => json!(most),
        _ => json!(usual),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_that_refers_to_itself_often_does_not_multiply() {
        let fields: Map<String, Value> = ('a'..='z')
            .map(|name| (name.to_string(), json!({ "$ref": "#/$defs/n" })))
            .collect();
        let schema = json!({ "$ref": "#/$defs/n", "$defs": { "n": { "properties": fields } } });
        let began = std::time::Instant::now();
        assert!(example_of(&schema).is_object());
        assert!(began.elapsed().as_secs() < 5);
    }

    #[test]
    fn an_example_has_the_types_that_the_schema_names() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "when": { "type": "string", "format": "date-time" },
                "count": { "type": "integer", "minimum": 3 },
                "kind": { "enum": ["file", "folder"] },
                "tags": { "type": "array", "items": { "type": ["null", "string"] } },
                "pair": { "prefixItems": [{ "type": "number" }, { "type": "boolean" }], "type": "array" },
                "either": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/point" }] },
                "both": { "allOf": [{ "$ref": "#/$defs/point" }, { "properties": { "z": { "default": 9 } } }] }
            },
            "$defs": { "point": { "type": "object", "properties": { "x": { "type": "number" } } } }
        });
        assert_eq!(
            example_of(&schema),
            json!({
                "name": "text", "when": "2026-01-01T00:00:00Z", "count": 3, "kind": "file",
                "tags": ["text"], "pair": [1, true], "either": { "x": 1 }, "both": { "x": 1, "z": 9 }
            })
        );
    }

    #[test]
    fn a_recursive_schema_has_a_finite_example() {
        let schema = json!({
            "type": "object",
            "properties": { "children": { "type": "array", "items": { "$ref": "#" } } }
        });
        let text = example_of(&schema).to_string();
        assert!(text.starts_with(r#"{"children":[{"children":"#), "{text}");
        assert!(text.len() < 200, "{text}");
        assert_eq!(example_of(&json!({ "$ref": "#" })), Value::Null);
        assert_eq!(example_of(&json!(true)), Value::Null);
    }
}
