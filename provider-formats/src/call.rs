//! A call that a model emitted, and its answer.

use serde_json::{Map, Value};

use crate::format::Format;

/// Calls that a model emitted together.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The form that they have.
    pub format: Format,
    /// In the order of the text.
    pub calls: Vec<ModelCall>,
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    /// The provider's id of the call, which its answer repeats.
    pub id: Option<String>,
    /// The name of the tool as the model wrote it.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// A value, which should be an object.
    Json(Value),
    /// Texts by parameter, whose types only the schema of the tool tells.
    Texts(Vec<(String, String)>),
    /// A text that is not JSON, and why.
    Invalid(String),
}

impl Arguments {
    /// The arguments that a provider sends as JSON within a text. An empty text is an empty object.
    pub(crate) fn from_text(text: &str) -> Self {
        match text.trim() {
            "" => Self::Json(Value::Object(Map::new())),
            text => match serde_json::from_str(text) {
                Ok(value) => Self::Json(value),
                Err(error) => Self::Invalid(error.to_string()),
            },
        }
    }

    /// The arguments as an object for a tool with this input schema.
    ///
    /// # Errors
    ///
    /// A sentence for arguments that are not a JSON object.
    pub fn to_object(&self, schema: &Value) -> Result<Value, String> {
        match self {
            Self::Json(Value::Null) => Ok(Value::Object(Map::new())),
            Self::Json(value @ Value::Object(_)) => Ok(value.clone()),
            Self::Json(other) => Err(format!(
                "the arguments must be a JSON object, not {}",
                type_name(other)
            )),
            Self::Texts(texts) => {
                let properties = &schema["properties"];
                let typed = texts
                    .iter()
                    .map(|(name, text)| (name.clone(), typed(text, &properties[name])));
                Ok(Value::Object(typed.collect()))
            }
            Self::Invalid(reason) => Err(format!("the arguments are not valid JSON: {reason}")),
        }
    }
}

/// The value of a text for a parameter with this schema. A text stays one where the schema allows a string.
fn typed(text: &str, schema: &Value) -> Value {
    let allows_string = match &schema["type"] {
        Value::String(name) => name == "string",
        Value::Array(names) => names.iter().any(|name| name == "string"),
        _ => schema["enum"]
            .as_array()
            .is_some_and(|values| values.iter().any(|value| value == text)),
    };
    match serde_json::from_str(text.trim()) {
        Ok(value) if !allows_string => value,
        _ => Value::from(text),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<'a> {
    /// The call that is answered.
    pub call: &'a ModelCall,
    /// The value, or the message of the error.
    pub result: Result<Value, String>,
}

impl Answer<'_> {
    /// The answer as text: a string as it is, any other value as JSON.
    pub(crate) fn text(&self) -> String {
        match &self.result {
            Ok(Value::String(text)) => text.clone(),
            Ok(value) => value.to_string(),
            Err(message) => message.clone(),
        }
    }

    pub(crate) fn is_error(&self) -> bool {
        self.result.is_err()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_get_the_types_of_the_schema() {
        let schema = json!({ "properties": {
            "zip": { "type": "string" }, "n": { "type": "integer" },
            "list": { "type": "array" }, "mode": { "enum": ["1", "2"] } } });
        let texts = [
            ("zip", "01234"),
            ("n", "7"),
            ("list", "[1]"),
            ("mode", "1"),
            ("free", "true"),
            ("text", "a b"),
        ];
        let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(
            Arguments::Texts(texts.to_vec()).to_object(&schema),
            Ok(
                json!({ "zip": "01234", "n": 7, "list": [1], "mode": "1", "free": true, "text": "a b" })
            )
        );
    }

    #[test]
    fn arguments_that_are_no_object_are_named() {
        let list = Arguments::Json(json!([1]));
        assert!(
            list.to_object(&Value::Null)
                .unwrap_err()
                .contains("an array")
        );
        let broken = Arguments::from_text("{\"a\": ");
        assert!(
            broken
                .to_object(&Value::Null)
                .unwrap_err()
                .contains("not valid JSON")
        );
        assert_eq!(
            Arguments::from_text(" ").to_object(&Value::Null),
            Ok(json!({}))
        );
    }
}
