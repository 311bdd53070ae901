//! Descriptions of values for messages, and values as source text for fixes.

use serde_json::Value;

use crate::literal::KnownValue;

/// The value as source text of an allowed type: `"5"` as `5`, `5` as `"5"`, `"true"` as `true`.
pub fn convert(allowed: &[&str], value: &KnownValue) -> Option<String> {
    let allows = |name| allowed.contains(&name);
    match value {
        KnownValue::Text(Some(text)) if allows("number") || allows("integer") => {
            let number: f64 = text.parse().ok()?;
            let fits = number.is_finite() && (allows("number") || number.fract() == 0.0);
            fits.then(|| number.to_string())
        }
        KnownValue::Text(Some(text)) if allows("boolean") => {
            matches!(text.as_str(), "true" | "false").then(|| text.clone())
        }
        KnownValue::Number(number) if allows("string") => Some(format!("\"{number}\"")),
        _ => None,
    }
}

/// A property name as source text, quoted where needed.
pub fn property_key(name: &str) -> String {
    let plain = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
    if plain {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

/// The JSON type of a value, with an article.
pub fn type_name(value: &KnownValue) -> &'static str {
    match value {
        KnownValue::Unknown | KnownValue::Undefined => "undefined",
        KnownValue::Null => "null",
        KnownValue::Boolean(_) => "a boolean",
        KnownValue::Number(_) => "a number",
        KnownValue::Text(_) => "a string",
        KnownValue::Array { .. } => "an array",
        KnownValue::Object { .. } => "an object",
    }
}

/// A short value itself, otherwise its type.
pub fn describe(value: &KnownValue) -> String {
    match value {
        KnownValue::Text(Some(text)) if text.chars().count() <= 40 => {
            Value::from(text.as_str()).to_string()
        }
        KnownValue::Number(number) => number.to_string(),
        KnownValue::Boolean(value) => value.to_string(),
        KnownValue::Object { .. } => "this object".to_owned(),
        KnownValue::Array { .. } => "this array".to_owned(),
        other => type_name(other).to_owned(),
    }
}
