//! Validates literal arguments against a JSON Schema.
//!
//! A violation is reported only if the schema refuses every value that the script can pass there.
//! Unsupported keywords accept everything.

mod composite;
mod describe;
mod scalar;
mod violation;

use std::cell::Cell;

use pml_nearest::typo_of;
use serde_json::{Map, Value};

use crate::literal::{KnownValue, Literal};
use composite::{Fields, ValueContext};
use describe::{convert, describe, type_name};
use scalar::{check_number, check_text};
use violation::Path;
pub use violation::Violation;

/// The limit of nested schemas, which ends recursive references.
const MAX_DEPTH: usize = 40;
/// The limit of schemas that one call is validated against.
const MAX_SCHEMAS: usize = 20_000;
/// The limit of characters for a type or a list of values in a message.
const MAX_TYPE_CHARS: usize = 120;

/// The violations of a tool's input schema.
pub fn validate(schema: &Value, arguments: &Literal) -> Vec<Violation> {
    let validator = Validator {
        root: schema,
        ref_replaces_siblings: ref_replaces_siblings(schema),
        schemas_left: Cell::new(MAX_SCHEMAS),
    };
    validator.value(schema, arguments, &Path::root(), 0)
}

/// Before draft 2019-09, `$ref` replaces the keywords beside it.
fn ref_replaces_siblings(schema: &Value) -> bool {
    let draft = schema["$schema"].as_str().unwrap_or_default();
    ["draft-04", "draft-06", "draft-07"]
        .iter()
        .any(|old| draft.contains(old))
}

struct Validator<'a> {
    root: &'a Value,
    ref_replaces_siblings: bool,
    /// Unions of references grow exponentially. Schemas over the limit accept everything.
    schemas_left: Cell<usize>,
}

impl Validator<'_> {
    fn value(&self, schema: &Value, literal: &Literal, at: &Path, depth: usize) -> Vec<Violation> {
        let Some(schemas_left) = self.schemas_left.get().checked_sub(1) else {
            return Vec::new();
        };
        self.schemas_left.set(schemas_left);
        if depth > MAX_DEPTH || matches!(literal.value, KnownValue::Unknown | KnownValue::Undefined)
        {
            return Vec::new();
        }
        let keywords = match schema {
            Value::Bool(false) => return vec![at.violation(literal.span, "must be left out")],
            Value::Object(keywords) => keywords,
            _ => return Vec::new(),
        };
        // `nullable` is OpenAPI's.
        let may_be_null = keywords.get("nullable") == Some(&Value::Bool(true));
        if may_be_null && matches!(literal.value, KnownValue::Null) {
            return Vec::new();
        }
        let mut violations = Vec::new();
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            if let Some(target) = pml_typegen::resolve(self.root, reference) {
                violations = self.value(target, literal, at, depth + 1);
            }
            if self.ref_replaces_siblings || !violations.is_empty() {
                return violations;
            }
        }
        // One violation of a value is enough: the others would follow from it.
        let violation = self
            .wrong_type(schema, keywords, literal, at)
            .or_else(|| self.wrong_choice(keywords, literal, at));
        if let Some(violation) = violation {
            return vec![violation];
        }
        let context = ValueContext {
            keywords,
            span: literal.span,
            path: at,
            depth,
        };
        match &literal.value {
            KnownValue::Text(Some(text)) => {
                violations.extend(check_text(keywords, text, literal.span, at))
            }
            KnownValue::Number(number) => {
                violations.extend(check_number(keywords, *number, literal.span, at));
            }
            KnownValue::Array { items, complete } => {
                violations.extend(self.array(&context, items, *complete));
            }
            KnownValue::Object { fields, complete } => {
                let complete = *complete;
                violations.extend(self.object(&context, Fields { fields, complete }));
            }
            _ => {}
        }
        for one in keywords
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            violations.extend(self.value(one, literal, &at.composed(), depth + 1));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(members)) = keywords.get(key) {
                violations.extend(self.one_of(schema, members, literal, at, depth));
            }
        }
        violations
    }

    fn wrong_type(
        &self,
        schema: &Value,
        keywords: &Map<String, Value>,
        literal: &Literal,
        at: &Path,
    ) -> Option<Violation> {
        let allowed: Vec<&str> = match keywords.get("type")? {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().map(Value::as_str).collect::<Option<_>>()?,
            _ => return None,
        };
        let fits = |name: &str| match (name, &literal.value) {
            ("string", KnownValue::Text(_))
            | ("boolean", KnownValue::Boolean(_))
            | ("null", KnownValue::Null)
            | ("number", KnownValue::Number(_))
            | ("array", KnownValue::Array { .. })
            | ("object", KnownValue::Object { .. }) => true,
            ("integer", KnownValue::Number(number)) => number.fract() == 0.0,
            ("string" | "boolean" | "null" | "number" | "integer" | "array" | "object", _) => false,
            // A type that JSON Schema does not have may accept anything.
            _ => true,
        };
        if allowed.is_empty() || allowed.iter().any(|name| fits(name)) {
            return None;
        }
        let is_integer = allowed == ["integer"];
        let wanted = match is_integer {
            true => "an integer".to_owned(),
            false => self.type_of(schema),
        };
        let given = match (&literal.value, is_integer) {
            (KnownValue::Number(number), true) => number.to_string(),
            (other, _) => type_name(other).to_owned(),
        };
        let mut violation = at.violation(literal.span, &format!("must be {wanted}, not {given}"));
        violation.fix = convert(&allowed, &literal.value).map(|text| (literal.span, text));
        Some(violation)
    }

    /// `enum` and `const`.
    fn wrong_choice(
        &self,
        keywords: &Map<String, Value>,
        literal: &Literal,
        at: &Path,
    ) -> Option<Violation> {
        let choices: Vec<&Value> = match (keywords.get("const"), keywords.get("enum")) {
            (Some(value), _) => vec![value],
            (None, Some(Value::Array(values))) => values.iter().collect(),
            _ => return None,
        };
        if choices.is_empty() || choices.iter().any(|choice| may_be(&literal.value, choice)) {
            return None;
        }
        let shown: Vec<String> = choices.iter().map(|choice| choice.to_string()).collect();
        let mut listed = shown.join(", ");
        if listed.chars().count() > MAX_TYPE_CHARS {
            let cut: String = listed.chars().take(MAX_TYPE_CHARS).collect();
            listed = format!(
                "{} ...",
                cut.rsplit_once(", ").map_or(cut.as_str(), |(head, _)| head)
            );
        }
        let one_of = if choices.len() == 1 { "" } else { "one of " };
        let given = match &literal.value {
            KnownValue::Text(Some(text)) => Value::from(text.as_str()).to_string(),
            KnownValue::Number(number) => number.to_string(),
            KnownValue::Boolean(value) => value.to_string(),
            other => type_name(other).to_owned(),
        };
        let mut violation = at.violation(
            literal.span,
            &format!("must be {one_of}{listed}, not {given}"),
        );
        if let KnownValue::Text(Some(text)) = &literal.value {
            let texts = choices.iter().filter_map(|choice| choice.as_str());
            violation.fix =
                typo_of(text, texts).map(|choice| (literal.span, Value::from(choice).to_string()));
        }
        Some(violation)
    }

    /// A value violates a union only if it violates every member.
    fn one_of(
        &self,
        schema: &Value,
        members: &[Value],
        literal: &Literal,
        at: &Path,
        depth: usize,
    ) -> Vec<Violation> {
        let mut refused = Vec::new();
        for member in members {
            let violations = self.value(member, literal, at, depth + 1);
            if violations.is_empty() {
                return violations;
            }
            refused.push(violations);
        }
        // A member that accepts the outer value is the one that was meant.
        let inside = |violations: &Vec<Violation>| {
            violations
                .iter()
                .all(|violation| violation.depth > at.depth)
        };
        let mut meant: Vec<Vec<Violation>> = Vec::new();
        let total = refused.len();
        for violations in refused {
            if total == 1 || inside(&violations) {
                meant.push(violations);
            }
        }
        if meant.len() == 1
            && let Some(violations) = meant.pop()
        {
            return violations;
        }
        match total {
            0 => Vec::new(),
            _ => {
                let message = format!(
                    "must be {}, not {}",
                    self.type_of(schema),
                    describe(&literal.value)
                );
                vec![at.violation(literal.span, &message)]
            }
        }
    }

    /// The TypeScript type of a schema, on one line.
    fn type_of(&self, schema: &Value) -> String {
        pml_typegen::one_line(self.root, schema, MAX_TYPE_CHARS)
    }
}

/// Whether a value may equal a value of a schema.
fn may_be(value: &KnownValue, choice: &Value) -> bool {
    match (value, choice) {
        (KnownValue::Unknown | KnownValue::Undefined, _) => true,
        (KnownValue::Null, choice) => choice.is_null(),
        (KnownValue::Boolean(value), choice) => choice.as_bool() == Some(*value),
        (KnownValue::Number(value), choice) => choice.as_f64() == Some(*value),
        (KnownValue::Text(Some(text)), choice) => choice.as_str() == Some(text),
        (KnownValue::Text(None), choice) => choice.is_string(),
        (KnownValue::Array { .. }, choice) => choice.is_array(),
        (KnownValue::Object { .. }, choice) => choice.is_object(),
    }
}
