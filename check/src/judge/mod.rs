//! Literal arguments against a JSON Schema.
//!
//! A problem is told only if every value that the script could have there is refused. Keywords
//! that are not understood refuse nothing.

mod composite;
mod problem;
mod scalar;
mod words;

use std::cell::Cell;

use serde_json::{Map, Value};

use crate::literal::{Known, Literal};
use crate::names;
use problem::Path;
pub use problem::Problem;
use scalar::{check_number, check_text};
use words::{convert, kind, shown};

/// Schemas within schemas, so that references in a circle end.
const MAX_DEPTH: usize = 40;
/// Schemas that are compared with one call.
const FUEL: usize = 20_000;
/// Characters of a type or of a list of values in a message.
const MAX_TYPE: usize = 120;

/// The problems of `arguments` as the input of a tool.
pub fn judge(schema: &Value, arguments: &Literal) -> Vec<Problem> {
    let judge = Judge {
        root: schema,
        old_references: is_old(schema),
        fuel: Cell::new(FUEL),
    };
    judge.value(schema, arguments, &Path::root(), 0)
}

/// Before draft 2019-09, what stands beside `$ref` does not count.
fn is_old(schema: &Value) -> bool {
    let draft = schema["$schema"].as_str().unwrap_or_default();
    ["draft-04", "draft-06", "draft-07"]
        .iter()
        .any(|old| draft.contains(old))
}

struct Judge<'a> {
    root: &'a Value,
    old_references: bool,
    /// Unions of references multiply; what is not looked at is not refused.
    fuel: Cell<usize>,
}

impl Judge<'_> {
    fn value(&self, schema: &Value, literal: &Literal, at: &Path, depth: usize) -> Vec<Problem> {
        let Some(fuel) = self.fuel.get().checked_sub(1) else {
            return Vec::new();
        };
        self.fuel.set(fuel);
        if depth > MAX_DEPTH || matches!(literal.value, Known::Nothing | Known::Undefined) {
            return Vec::new();
        }
        let keywords = match schema {
            Value::Bool(false) => return vec![at.problem(literal.span, "must be left out")],
            Value::Object(keywords) => keywords,
            _ => return Vec::new(),
        };
        // OpenAPI's word for it.
        let may_be_null = keywords.get("nullable") == Some(&Value::Bool(true));
        if may_be_null && matches!(literal.value, Known::Null) {
            return Vec::new();
        }
        let mut problems = Vec::new();
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            if let Some(target) = pml_typegen::resolve(self.root, reference) {
                problems = self.value(target, literal, at, depth + 1);
            }
            if self.old_references || !problems.is_empty() {
                return problems;
            }
        }
        // One complaint about a value is enough: the others would follow from it.
        let complaint = self
            .wrong_type(schema, keywords, literal, at)
            .or_else(|| self.wrong_choice(keywords, literal, at));
        if let Some(complaint) = complaint {
            return vec![complaint];
        }
        match &literal.value {
            Known::Text(Some(text)) => {
                problems.extend(check_text(keywords, text, literal.span, at))
            }
            Known::Number(number) => {
                problems.extend(check_number(keywords, *number, literal.span, at));
            }
            Known::Array { items, whole } => {
                problems.extend(self.array(keywords, items, *whole, literal.span, at, depth));
            }
            Known::Object { fields, whole } => {
                problems.extend(self.object(keywords, fields, *whole, literal.span, at, depth));
            }
            _ => {}
        }
        for one in keywords
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            problems.extend(self.value(one, literal, &at.composed(), depth + 1));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(members)) = keywords.get(key) {
                problems.extend(self.one_of(schema, members, literal, at, depth));
            }
        }
        problems
    }

    fn wrong_type(
        &self,
        schema: &Value,
        keywords: &Map<String, Value>,
        literal: &Literal,
        at: &Path,
    ) -> Option<Problem> {
        let allowed: Vec<&str> = match keywords.get("type")? {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().map(Value::as_str).collect::<Option<_>>()?,
            _ => return None,
        };
        let fits = |name: &str| match (name, &literal.value) {
            ("string", Known::Text(_))
            | ("boolean", Known::Boolean(_))
            | ("null", Known::Null)
            | ("number", Known::Number(_))
            | ("array", Known::Array { .. })
            | ("object", Known::Object { .. }) => true,
            ("integer", Known::Number(number)) => number.fract() == 0.0,
            ("string" | "boolean" | "null" | "number" | "integer" | "array" | "object", _) => false,
            // Whoever invents a type may allow anything with it.
            _ => true,
        };
        if allowed.is_empty() || allowed.iter().any(|name| fits(name)) {
            return None;
        }
        let is_integer = allowed == ["integer"];
        let wanted = match is_integer {
            true => "an integer".to_owned(),
            false => self.printed(schema),
        };
        let given = match (&literal.value, is_integer) {
            (Known::Number(number), true) => number.to_string(),
            (other, _) => kind(other).to_owned(),
        };
        let mut problem = at.problem(literal.span, &format!("must be {wanted}, not {given}"));
        problem.fix = convert(&allowed, &literal.value).map(|text| (literal.span, text));
        Some(problem)
    }

    /// `enum` and `const`.
    fn wrong_choice(
        &self,
        keywords: &Map<String, Value>,
        literal: &Literal,
        at: &Path,
    ) -> Option<Problem> {
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
        if listed.chars().count() > MAX_TYPE {
            let cut: String = listed.chars().take(MAX_TYPE).collect();
            listed = format!(
                "{} ...",
                cut.rsplit_once(", ").map_or(cut.as_str(), |(head, _)| head)
            );
        }
        let one_of = if choices.len() == 1 { "" } else { "one of " };
        let given = match &literal.value {
            Known::Text(Some(text)) => Value::from(text.as_str()).to_string(),
            Known::Number(number) => number.to_string(),
            Known::Boolean(value) => value.to_string(),
            other => kind(other).to_owned(),
        };
        let mut problem = at.problem(
            literal.span,
            &format!("must be {one_of}{listed}, not {given}"),
        );
        if let Known::Text(Some(text)) = &literal.value {
            let texts = choices.iter().filter_map(|choice| choice.as_str());
            problem.fix = names::typo_of(text, texts)
                .map(|choice| (literal.span, Value::from(choice).to_string()));
        }
        Some(problem)
    }

    /// Refused only if every member refuses it.
    fn one_of(
        &self,
        schema: &Value,
        members: &[Value],
        literal: &Literal,
        at: &Path,
        depth: usize,
    ) -> Vec<Problem> {
        let mut refused = Vec::new();
        for member in members {
            let problems = self.value(member, literal, at, depth + 1);
            if problems.is_empty() {
                return problems;
            }
            refused.push(problems);
        }
        // A member that agrees on the outside is the one that was meant.
        let inside =
            |problems: &Vec<Problem>| problems.iter().all(|problem| problem.depth > at.depth);
        let mut meant: Vec<Vec<Problem>> = Vec::new();
        let total = refused.len();
        for problems in refused {
            if total == 1 || inside(&problems) {
                meant.push(problems);
            }
        }
        if meant.len() == 1
            && let Some(problems) = meant.pop()
        {
            return problems;
        }
        match total {
            0 => Vec::new(),
            _ => {
                let message = format!(
                    "must be {}, not {}",
                    self.printed(schema),
                    shown(&literal.value)
                );
                vec![at.problem(literal.span, &message)]
            }
        }
    }

    fn printed(&self, schema: &Value) -> String {
        pml_typegen::one_line(self.root, schema, MAX_TYPE)
    }
}

/// Whether a value could be the one of a schema.
fn may_be(value: &Known, choice: &Value) -> bool {
    match (value, choice) {
        (Known::Nothing | Known::Undefined, _) => true,
        (Known::Null, choice) => choice.is_null(),
        (Known::Boolean(value), choice) => choice.as_bool() == Some(*value),
        (Known::Number(value), choice) => choice.as_f64() == Some(*value),
        (Known::Text(Some(text)), choice) => choice.as_str() == Some(text),
        (Known::Text(None), choice) => choice.is_string(),
        (Known::Array { .. }, choice) => choice.is_array(),
        (Known::Object { .. }, choice) => choice.is_object(),
    }
}
