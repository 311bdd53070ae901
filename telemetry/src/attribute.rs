//! Attributes of spans, log records and resources.

use std::borrow::Cow;

use serde_json::{Value, json};

/// A name and a value.
pub type Attribute = (Cow<'static, str>, AttributeValue);

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeValue {
    /// A text.
    Text(Cow<'static, str>),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Yes or no.
    Bool(bool),
}

impl AttributeValue {
    fn to_otlp(&self) -> Value {
        match self {
            Self::Text(text) => json!({ "stringValue": text }),
            // OTLP writes 64-bit numbers as text.
            Self::Int(number) => json!({ "intValue": number.to_string() }),
            Self::Float(number) => json!({ "doubleValue": number }),
            Self::Bool(is) => json!({ "boolValue": is }),
        }
    }
}

/// The list of attributes in the form of OTLP.
pub fn to_otlp<'a>(
    attributes: impl IntoIterator<Item = (&'a str, &'a AttributeValue)>,
) -> Vec<Value> {
    attributes
        .into_iter()
        .map(|(key, value)| json!({ "key": key, "value": value.to_otlp() }))
        .collect()
}

impl From<&'static str> for AttributeValue {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<f64> for AttributeValue {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<bool> for AttributeValue {
    fn from(is: bool) -> Self {
        Self::Bool(is)
    }
}
