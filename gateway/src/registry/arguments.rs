//! Validation of arguments against the input schema, before a call is sent.

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value, json};

/// Errors in one message.
const MAX_ERRORS: usize = 3;
/// Unknown arguments that are checked for a typo.
const MAX_UNKNOWN: usize = 8;

/// A compiled input schema. A schema that cannot be compiled (a reference to the network, an invalid
/// pattern) accepts everything: the server validates as well, and its tool stays usable.
#[derive(Debug)]
pub struct ArgumentCheck {
    validator: Option<Validator>,
    known: Vec<String>,
}

impl ArgumentCheck {
    pub fn new(schema: &Value) -> Self {
        // Formats are left to the server: definitions of a URL, for example, differ.
        let validator = jsonschema::options()
            .should_validate_formats(false)
            .build(&with_null(schema))
            .inspect_err(|error| tracing::debug!(%error, "an input schema cannot be used"))
            .ok();
        let known = schema["properties"]
            .as_object()
            .map(|properties| properties.keys().cloned().collect())
            .unwrap_or_default();
        Self { validator, known }
    }

    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        let Some(validator) = &self.validator else {
            return Ok(());
        };
        if validator.is_valid(arguments) {
            return Ok(());
        }
        let mut errors = validator.iter_errors(arguments);
        let mut messages: Vec<String> = errors
            .by_ref()
            .take(MAX_ERRORS)
            .map(|error| {
                let at = dotted(error.instance_path().as_str());
                let suggestion = match error.kind() {
                    ValidationErrorKind::AdditionalProperties { unexpected } => {
                        self.suggestion(unexpected)
                    }
                    _ => String::new(),
                };
                format!("{at}: {error}{suggestion}")
            })
            .collect();
        let more = errors.count();
        if more > 0 {
            messages.push(format!("and {more} more"));
        }
        Err(messages.join("; "))
    }

    fn suggestion(&self, unexpected: &[String]) -> String {
        let names = self.known.iter().map(String::as_str);
        unexpected
            .iter()
            .take(MAX_UNKNOWN)
            .find_map(|name| pml_nearest::typo_of(name, names.clone()))
            .map(|name| format!(", did you mean `{name}`?"))
            .unwrap_or_default()
    }
}

/// The schema with OpenAPI's `nullable` translated to JSON Schema.
fn with_null(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(with_null).collect(),
        Value::Object(fields) => {
            let mut fields: Map<String, Value> = fields
                .iter()
                .map(|(key, value)| (key.clone(), with_null(value)))
                .collect();
            if fields.get("nullable") == Some(&Value::Bool(true)) {
                if let Some(kind @ Value::String(_)) = fields.get_mut("type") {
                    *kind = json!([kind.take(), "null"]);
                }
                if let Some(Value::Array(values)) = fields.get_mut("enum") {
                    values.push(Value::Null);
                }
            }
            Value::Object(fields)
        }
        other => other.clone(),
    }
}

/// `/items/0/name` as a script would write it: `arguments.items[0].name`.
fn dotted(pointer: &str) -> String {
    let mut out = String::from("arguments");
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            out.push_str(&format!("[{part}]"));
        } else {
            out.push('.');
            out.push_str(&part);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: Value, arguments: Value) -> Result<(), String> {
        ArgumentCheck::new(&schema).check(&arguments)
    }

    #[test]
    fn an_invalid_argument_is_reported_with_its_path() {
        let schema = json!({
            "type": "object",
            "properties": { "items": { "type": "array", "items": { "type": "object",
                "properties": { "n": { "type": "integer" } } } } },
            "required": ["items"]
        });
        let error = check(
            schema.clone(),
            json!({ "items": [{ "n": 1 }, { "n": "x" }] }),
        )
        .unwrap_err();
        assert!(error.starts_with("arguments.items[1].n: "), "{error}");
        let error = check(schema.clone(), json!({})).unwrap_err();
        assert!(
            error.contains("\"items\" is a required property"),
            "{error}"
        );
        assert!(check(schema, json!({ "items": [] })).is_ok());
    }

    #[test]
    fn a_misspelt_argument_is_reported_with_the_right_one() {
        let schema = json!({ "type": "object", "properties": { "path": {} }, "additionalProperties": false });
        let error = check(schema, json!({ "pth": 1 })).unwrap_err();
        assert!(error.ends_with("did you mean `path`?"), "{error}");
    }

    #[test]
    fn a_nullable_argument_may_be_null() {
        let schema = json!({ "type": "object", "properties": {
            "since": { "type": "string", "nullable": true },
            "order": { "type": "string", "enum": ["up", "down"], "nullable": true },
            "until": { "type": "string" },
        } });
        assert!(check(schema.clone(), json!({ "since": null, "order": null })).is_ok());
        assert!(check(schema.clone(), json!({ "since": 1 })).is_err());
        assert!(check(schema.clone(), json!({ "order": "left" })).is_err());
        assert!(check(schema, json!({ "until": null })).is_err());
    }

    #[test]
    fn a_schema_that_cannot_be_used_lets_everything_pass() {
        assert!(
            check(
                json!({ "$ref": "https://example.test/x.json" }),
                json!({ "a": 1 })
            )
            .is_ok()
        );
        assert!(check(json!({ "type": 7 }), json!({})).is_ok());
    }

    #[test]
    fn keywords_of_draft_2020_12_are_supported() {
        let schema = json!({ "prefixItems": [{ "type": "string" }], "items": false });
        assert!(check(schema.clone(), json!(["a"])).is_ok());
        assert!(check(schema, json!(["a", 1])).is_err());
    }
}
