//! Known values in words, and as they would be written in a script.

use serde_json::Value;

use crate::literal::Known;

/// The same value in the type that is wanted, where a person would see them as the same.
pub fn convert(allowed: &[&str], value: &Known) -> Option<String> {
    let allows = |name| allowed.contains(&name);
    match value {
        Known::Text(Some(text)) if allows("number") || allows("integer") => {
            let number: f64 = text.parse().ok()?;
            let fits = number.is_finite() && (allows("number") || number.fract() == 0.0);
            fits.then(|| number.to_string())
        }
        Known::Text(Some(text)) if allows("boolean") => {
            matches!(text.as_str(), "true" | "false").then(|| text.clone())
        }
        Known::Number(number) if allows("string") => Some(format!("\"{number}\"")),
        _ => None,
    }
}

pub fn key(name: &str) -> String {
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

pub fn kind(value: &Known) -> &'static str {
    match value {
        Known::Nothing | Known::Undefined => "undefined",
        Known::Null => "null",
        Known::Boolean(_) => "a boolean",
        Known::Number(_) => "a number",
        Known::Text(_) => "a string",
        Known::Array { .. } => "an array",
        Known::Object { .. } => "an object",
    }
}

pub fn shown(value: &Known) -> String {
    match value {
        Known::Text(Some(text)) if text.chars().count() <= 40 => {
            Value::from(text.as_str()).to_string()
        }
        Known::Number(number) => number.to_string(),
        Known::Boolean(value) => value.to_string(),
        Known::Object { .. } => "this object".to_owned(),
        Known::Array { .. } => "this array".to_owned(),
        other => kind(other).to_owned(),
    }
}
