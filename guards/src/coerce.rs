//! Converts values whose type nearly fits a schema: what models write as text.

use serde_json::{Number, Value};

use crate::walk::At;

/// Characters of a text that is read as JSON.
const MAX_JSON_CHARS: usize = 64 * 1024;

/// Converts values that do not have the type that the schema wants, where nothing is lost. Returns the
/// places.
pub(crate) fn coerce(schema: &Value, value: &mut Value) -> Vec<String> {
    let mut places = Vec::new();
    walk(schema, value, &At::Top, &mut places);
    places
}

fn walk(schema: &Value, value: &mut Value, at: &At<'_>, places: &mut Vec<String>) {
    if let Some(converted) = converted(schema, value) {
        *value = converted;
        places.push(at.to_string());
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if let Some(schema) = schema["properties"].get(name) {
                    walk(schema, value, &At::Key(at, name), places);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter_mut().enumerate() {
                    walk(schema, item, &At::Index(at, index), places);
                }
            }
        }
        _ => {}
    }
}

/// The value as the schema's one type; `None` if it has that type, or is not exactly a value of it.
fn converted(schema: &Value, value: &Value) -> Option<Value> {
    let wanted = schema["type"].as_str()?;
    match (wanted, value) {
        ("integer", Value::String(text)) => integer(text),
        ("integer", Value::Number(number)) if !number.is_i64() && !number.is_u64() => {
            let float = number.as_f64()?;
            // Beyond 2^53 a float is not one integer.
            (float.fract() == 0.0 && float.abs() < 9e15).then(|| Value::from(float as i64))
        }
        ("number", Value::String(text)) => integer(text).or_else(|| float(text)),
        ("boolean", Value::String(text)) => match text.as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        ("string", Value::Number(number)) => Some(Value::String(number.to_string())),
        ("string", Value::Bool(bool)) => Some(Value::String(bool.to_string())),
        ("array" | "object", Value::String(text)) if text.len() <= MAX_JSON_CHARS => {
            let read: Value = serde_json::from_str(text).ok()?;
            let fits = match wanted {
                "array" => read.is_array(),
                _ => read.is_object(),
            };
            fits.then_some(read)
        }
        _ => None,
    }
}

/// Exactly as it would be written: no spaces, signs or leading zeros, which may be meant as text.
fn integer(text: &str) -> Option<Value> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then(|| Value::from(number))
}

fn float(text: &str) -> Option<Value> {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"-.eE".contains(&byte));
    let starts = text
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_plain && starts)?;
    Number::from_f64(number).map(Value::Number)
}
