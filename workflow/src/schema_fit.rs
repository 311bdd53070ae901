//! Whether arguments with references can fit a JSON Schema. Only what is certain is reported: a
//! reference may become anything, and keywords beyond the plain ones are left to the gateway.

use serde_json::{Map, Value};

use crate::error::{shown, suggestion};
use crate::reference::Template;

const MAX_DEPTH: usize = 8;

/// The mistakes, each with its path inside the arguments.
pub fn misfits(args: &Template, schema: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    check(args, schema, "", 0, &mut found);
    found
}

type Found = Vec<(String, String)>;

fn check(args: &Template, schema: &Value, path: &str, depth: usize, found: &mut Found) {
    let Some(schema) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
        return;
    };
    // Composed schemas are the gateway's.
    if ["$ref", "anyOf", "oneOf", "allOf", "not", "if"]
        .iter()
        .any(|key| schema.contains_key(*key))
    {
        return;
    }
    match args {
        Template::Literal(value) => check_literal(value, schema, path, depth, found),
        Template::Reference(_) => {}
        Template::Text(_) => check_type("string", schema, path, found),
        Template::List(items) => {
            check_type("array", schema, path, found);
            if let Some(inner) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    check(item, inner, &format!("{path}[{index}]"), depth + 1, found);
                }
            }
        }
        Template::Object(fields) => {
            check_type("object", schema, path, found);
            let keys: Vec<&str> = fields.iter().map(|(key, _)| key.as_str()).collect();
            check_keys(&keys, schema, path, found);
            for (key, field) in fields {
                if let Some(inner) = schema.get("properties").and_then(|inner| inner.get(key)) {
                    check(field, inner, &format!("{path}.{key}"), depth + 1, found);
                }
            }
        }
    }
}

fn check_literal(
    value: &Value,
    schema: &Map<String, Value>,
    path: &str,
    depth: usize,
    found: &mut Found,
) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number)
            if number.is_f64() && number.as_f64().is_some_and(|n| n.fract() != 0.0) =>
        {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let before = found.len();
    check_type(kind, schema, path, found);
    if found.len() > before {
        return;
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let names: Vec<String> = allowed.iter().take(8).map(Value::to_string).collect();
        let message = format!(
            "{} is not one of {}",
            shown(&value.to_string()),
            names.join(", ")
        );
        found.push((path.to_owned(), message));
    }
    match value {
        Value::Array(items) => {
            if let Some(inner) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    let item = Template::Literal(item.clone());
                    check(&item, inner, &format!("{path}[{index}]"), depth + 1, found);
                }
            }
        }
        Value::Object(fields) => {
            let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
            check_keys(&keys, schema, path, found);
            for (key, field) in fields {
                if let Some(inner) = schema.get("properties").and_then(|inner| inner.get(key)) {
                    let field = Template::Literal(field.clone());
                    check(&field, inner, &format!("{path}.{key}"), depth + 1, found);
                }
            }
        }
        _ => {}
    }
}

fn check_type(kind: &str, schema: &Map<String, Value>, path: &str, found: &mut Found) {
    let fits = |wanted: &str| wanted == kind || (wanted == "number" && kind == "integer");
    let (is_fit, wanted) = match schema.get("type") {
        Some(Value::String(wanted)) => (fits(wanted), format!("`{wanted}`")),
        Some(Value::Array(wanted)) => {
            let wanted: Vec<&str> = wanted.iter().filter_map(Value::as_str).collect();
            (
                wanted.is_empty() || wanted.iter().any(|wanted| fits(wanted)),
                pml_nearest::quoted_list(&wanted, "or"),
            )
        }
        _ => return,
    };
    if !is_fit {
        found.push((
            path.to_owned(),
            format!("expected {wanted}, found `{kind}`"),
        ));
    }
}

fn check_keys(keys: &[&str], schema: &Map<String, Value>, path: &str, found: &mut Found) {
    let empty = Map::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !keys.contains(&name) {
            found.push((
                path.to_owned(),
                format!("the argument {} is missing", shown(name)),
            ));
        }
    }
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for key in keys.iter().filter(|key| !properties.contains_key(**key)) {
        let near = suggestion(key, properties.keys().map(String::as_str));
        if is_closed {
            let message = format!("there is no argument {}{near}", shown(key));
            found.push((format!("{path}.{key}"), message));
        }
    }
}
