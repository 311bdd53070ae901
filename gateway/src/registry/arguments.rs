//! Validation of arguments against the input schema, before a call is sent.

use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value, json};

use crate::printable;

use super::linear_patterns::{self, without_unsupported};
use super::schema_graph::{SchemaGraph, SchemaProblem};
use super::validation_cost::steps;

/// Errors in one message.
const MAX_ERRORS: usize = 3;
/// Unknown arguments that are checked for a typo.
const MAX_UNKNOWN: usize = 8;
/// Characters of one error. The validator quotes the invalid value, which may be megabytes.
const MAX_ERROR_CHARS: usize = 400;
/// Steps of a validation that is done at once: some hundred microseconds.
const QUICK_STEPS: u64 = 5_000;
/// Values and bytes of arguments that are certainly few.
const FEW_VALUES: u64 = 200;
const FEW_BYTES: u64 = 16 * 1024;
/// Steps of a validation at most: about half a second.
const MAX_STEPS: u64 = 10_000_000;

/// A compiled input schema.
///
/// A schema that cannot be compiled or measured (a reference to the network, an invalid pattern) accepts
/// everything, with a [`ArgumentCheck::notice`]: the server validates as well, and its tool stays usable.
#[derive(Debug)]
pub struct ArgumentCheck {
    state: State,
    known: Vec<String>,
    /// What is not checked, and why.
    notice: Option<String>,
}

#[derive(Debug)]
enum State {
    Checked {
        validator: Box<Validator>,
        graph: SchemaGraph,
    },
    Unchecked,
    /// The schema must not be used; calls are refused.
    Refused(String),
}

impl ArgumentCheck {
    pub fn new(schema: &Value) -> Self {
        // Compiling shares no state with anything else.
        let compiled = catch_unwind(AssertUnwindSafe(|| compile(schema)));
        let (state, notice) = compiled.unwrap_or_else(|_| {
            let reason = "its input schema makes the validator panic".to_owned();
            (State::Refused(reason), None)
        });
        let known = schema["properties"]
            .as_object()
            .map(|properties| properties.keys().cloned().collect())
            .unwrap_or_default();
        Self {
            state,
            known,
            notice,
        }
    }

    /// What is not checked, and why; `None` if everything is.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Whether the arguments are checked in less than a millisecond.
    pub fn is_quick(&self, arguments: &Value) -> bool {
        let State::Checked { graph, .. } = &self.state else {
            return true;
        };
        let (mut values, mut bytes) = (0, 0);
        if !is_few(arguments, &mut values, &mut bytes) {
            return false;
        }
        let at_most = graph.size.saturating_mul(values);
        let in_patterns = graph.patterns.saturating_mul(bytes);
        if !graph.is_cyclic && at_most <= QUICK_STEPS && in_patterns <= QUICK_STEPS {
            return true;
        }
        steps(graph, arguments, QUICK_STEPS).is_ok()
    }

    /// Validates `arguments`. The error says where they are invalid.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        self.check_as(arguments, self.is_quick(arguments))
    }

    /// [`ArgumentCheck::check`] of arguments that are known to be quick, or not.
    pub fn check_as(&self, arguments: &Value, is_quick: bool) -> Result<(), String> {
        let (validator, graph) = match &self.state {
            State::Checked { validator, graph } => (validator, graph),
            State::Unchecked => return Ok(()),
            State::Refused(reason) => return Err(reason.clone()),
        };
        if !is_quick && steps(graph, arguments, MAX_STEPS).is_err() {
            return Err("they are too much work to check against it: pass less".to_owned());
        }
        // The validator is not changed by a validation, so a panic leaves it whole.
        let validated = catch_unwind(AssertUnwindSafe(|| {
            if validator.is_valid(arguments) {
                return Ok(());
            }
            Err(self.errors(validator, arguments, is_quick))
        }));
        validated.unwrap_or_else(|_| Err("they make the validator panic".to_owned()))
    }

    fn errors(&self, validator: &Validator, arguments: &Value, all: bool) -> String {
        if !all {
            // Each error of many would take memory.
            return match validator.validate(arguments) {
                Ok(()) => "they are invalid".to_owned(),
                Err(error) => self.message(&error),
            };
        }
        let mut errors = validator.iter_errors(arguments);
        let mut messages: Vec<String> = errors
            .by_ref()
            .take(MAX_ERRORS)
            .map(|error| self.message(&error))
            .collect();
        let more = errors.count();
        if more > 0 {
            messages.push(format!("and {more} more"));
        }
        messages.join("; ")
    }

    fn message(&self, error: &ValidationError<'_>) -> String {
        let at = dotted(error.instance_path().as_str());
        let suggestion = match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => self.suggestion(unexpected),
            ValidationErrorKind::Required { .. } => self.given(error.instance()),
            _ => String::new(),
        };
        let mut text = Cut::default();
        // A full text ends the formatting with an error.
        let _ = write!(text, "{at}: {error}");
        format!("{}{suggestion}", text.text)
    }

    /// What was passed where something is missing, if the tool does not know it.
    fn given(&self, passed: &Value) -> String {
        let unknown = passed
            .as_object()
            .into_iter()
            .flat_map(|passed| passed.keys());
        let unknown = unknown.filter(|name| !self.known.contains(*name));
        match unknown.take(1).next() {
            Some(name) => format!(", you passed `{}`", printable(name)),
            None => String::new(),
        }
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

fn compile(schema: &Value) -> (State, Option<String>) {
    let unchecked = |reason: String| {
        let notice = format!("its arguments are not checked: {reason}");
        (State::Unchecked, Some(notice))
    };
    let graph = match SchemaGraph::new(schema) {
        Ok(graph) => graph,
        Err(problem @ SchemaProblem::Reference(_)) => return unchecked(problem.to_string()),
        Err(problem) => {
            return (
                State::Refused(format!("its input schema is refused: {problem}")),
                None,
            );
        }
    };
    let mut schema = with_null(schema);
    let skipped = match without_unsupported(&mut schema) {
        Ok(skipped) => skipped,
        Err(reason) => return unchecked(reason),
    };
    match linear_patterns::options().build(&schema) {
        Ok(validator) => {
            let validator = Box::new(validator);
            let notice = (skipped > 0).then(|| {
                format!("{skipped} patterns of its arguments are not checked: they need look-around, back-references or too much memory")
            });
            (State::Checked { validator, graph }, notice)
        }
        Err(error) => {
            let mut text = Cut::default();
            // A full text ends the formatting with an error.
            let _ = write!(text, "{error}");
            unchecked(text.text)
        }
    }
}

/// Counts values and bytes, and stops when they are no longer few.
fn is_few(value: &Value, values: &mut u64, bytes: &mut u64) -> bool {
    *values += 1;
    match value {
        Value::String(text) => *bytes += text.len() as u64,
        Value::Array(items) => return items.iter().all(|item| is_few(item, values, bytes)),
        Value::Object(fields) => {
            return fields.iter().all(|(name, value)| {
                *bytes += name.len() as u64;
                is_few(value, values, bytes)
            });
        }
        _ => {}
    }
    *values <= FEW_VALUES && *bytes <= FEW_BYTES
}

/// The beginning of a text that is being formatted.
#[derive(Default)]
struct Cut {
    text: String,
}

impl fmt::Write for Cut {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if self.text.len() + piece.len() <= MAX_ERROR_CHARS {
            self.text.push_str(piece);
            return Ok(());
        }
        let end = piece.floor_char_boundary(MAX_ERROR_CHARS - self.text.len());
        self.text.push_str(&piece[..end]);
        self.text.push('…');
        Err(fmt::Error)
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
    fn a_schema_that_cannot_be_used_lets_everything_pass_with_a_notice() {
        for schema in [
            json!({ "$ref": "https://example.test/x.json" }),
            json!({ "type": 7 }),
            json!({ "patternProperties": { "(?=a)b": {} }, "additionalProperties": false }),
            json!({ "not": { "pattern": "(?=a)b" } }),
        ] {
            let check = ArgumentCheck::new(&schema);
            assert!(check.check(&json!({ "a": 1 })).is_ok());
            let notice = check.notice().unwrap_or_default();
            assert!(
                notice.starts_with("its arguments are not checked"),
                "{notice}"
            );
        }
    }

    #[test]
    fn a_pattern_that_needs_backtracking_is_skipped_and_the_rest_is_checked() {
        let schema = json!({ "type": "object", "properties": {
            "word": { "type": "string", "pattern": r"^((a|aa)*)\1(?!0)c$" },
            "code": { "type": "string", "pattern": "^[A-Z]{3}$" },
        } });
        let check = ArgumentCheck::new(&schema);
        assert!(check.notice().unwrap().starts_with("1 patterns"));
        let began = std::time::Instant::now();
        assert!(check.check(&json!({ "word": "a".repeat(53) })).is_ok());
        assert!(began.elapsed().as_millis() < 200);
        assert!(check.check(&json!({ "word": 1 })).is_err());
        assert!(check.check(&json!({ "code": "abc" })).is_err());
        assert!(check.check(&json!({ "code": "ABC" })).is_ok());
    }

    /// `levels` definitions that each apply the next one twice.
    fn twofold(keyword: &str, levels: usize) -> Value {
        let mut definitions = Map::new();
        for level in 0..levels {
            let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
            definitions.insert(format!("d{level}"), json!({ keyword: [next, next] }));
        }
        definitions.insert(format!("d{levels}"), json!({ "type": "object" }));
        json!({ "$ref": "#/$defs/d0", "$defs": definitions })
    }

    #[test]
    fn a_schema_with_exponentially_many_paths_is_refused_at_once() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let began = std::time::Instant::now();
            let check = ArgumentCheck::new(&twofold(keyword, 20));
            let error = check.check(&json!({})).unwrap_err();
            assert!(error.contains("50000 subschemas"), "{error}");
            assert!(began.elapsed().as_secs() < 1);
        }
        assert!(check(twofold("anyOf", 8), json!({})).is_ok());
        assert!(check(twofold("anyOf", 8), json!(1)).is_err());
    }

    #[test]
    fn a_recursive_schema_is_checked_as_long_as_the_arguments_allow_it() {
        let schema = json!({ "$ref": "#/$defs/n", "$defs": { "n": {
            "allOf": [
                { "properties": { "a": { "$ref": "#/$defs/n" } } },
                { "properties": { "a": { "$ref": "#/$defs/n" }, "b": { "type": "string" } } },
            ] } } });
        let nested =
            |levels: usize| (0..levels).fold(json!({ "b": "x" }), |inner, _| json!({ "a": inner }));
        let check = ArgumentCheck::new(&schema);
        assert_eq!(check.notice(), None);
        assert!(check.check(&nested(6)).is_ok());
        let began = std::time::Instant::now();
        let error = check.check(&nested(100)).unwrap_err();
        assert!(error.contains("too much work"), "{error}");
        assert!(began.elapsed().as_secs() < 1);
    }

    #[test]
    fn an_error_about_a_large_value_is_short() {
        let schema = json!({ "properties": { "n": { "type": "integer" } } });
        let error = check(schema, json!({ "n": "x".repeat(1 << 20) })).unwrap_err();
        assert!(error.len() < 1_000, "{}", error.len());
    }

    #[test]
    fn small_arguments_are_quick_and_large_ones_are_not() {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "array", "items": { "type": "integer" } } } });
        let check = ArgumentCheck::new(&schema);
        assert!(check.is_quick(&json!({ "n": [1, 2, 3] })));
        assert!(!check.is_quick(&json!({ "n": vec![1; 10_000] })));
        assert!(check.check(&json!({ "n": vec![1; 10_000] })).is_ok());
        assert!(check.check(&json!({ "n": vec!["a"; 100_000] })).is_err());
    }

    #[test]
    fn keywords_of_draft_2020_12_are_supported() {
        let schema = json!({ "prefixItems": [{ "type": "string" }], "items": false });
        assert!(check(schema.clone(), json!(["a"])).is_ok());
        assert!(check(schema, json!(["a", 1])).is_err());
    }
}
