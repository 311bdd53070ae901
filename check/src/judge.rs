//! Literal arguments against a JSON Schema.
//!
//! A problem is told only if every value that the script could have there is refused. Keywords
//! that are not understood refuse nothing.

use std::cell::Cell;

use regex::Regex;
use serde_json::{Map, Value};
use swc_core::common::Span;

use crate::literal::{Field, Known, Literal};
use crate::names;

/// Schemas within schemas, so that references in a circle end.
const MAX_DEPTH: usize = 40;
/// Schemas that are compared with one call.
const FUEL: usize = 20_000;
/// Characters of a type or of a list of values in a message.
const MAX_TYPE: usize = 120;

/// Why an argument is refused.
#[derive(Debug)]
pub struct Problem {
    pub span: Span,
    pub message: String,
    /// What to write instead, and where.
    pub fix: Option<(Span, String)>,
    /// How far inside the arguments it is: the deepest explanation of a union is the best.
    depth: usize,
}

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

/// Where in the arguments: `items[0].name`.
struct Path {
    text: String,
    depth: usize,
}

impl Path {
    fn root() -> Self {
        Self {
            text: String::new(),
            depth: 0,
        }
    }

    fn field(&self, name: &str) -> Self {
        let dot = if self.text.is_empty() { "" } else { "." };
        Self {
            text: format!("{}{dot}{name}", self.text),
            depth: self.depth + 1,
        }
    }

    fn item(&self, index: usize) -> Self {
        Self {
            text: format!("{}[{index}]", self.text),
            depth: self.depth + 1,
        }
    }

    fn problem(&self, span: Span, message: &str) -> Problem {
        let subject = match self.text.as_str() {
            "" => "the arguments".to_owned(),
            path => format!("`{path}`"),
        };
        Problem {
            span,
            message: format!("{subject} {message}"),
            fix: None,
            depth: self.depth,
        }
    }
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
        let mut problems = Vec::new();
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            if let Some(target) = pml_types::resolve(self.root, reference) {
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
            problems.extend(self.value(one, literal, at, depth + 1));
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

    fn array(
        &self,
        keywords: &Map<String, Value>,
        items: &[Literal],
        whole: bool,
        span: Span,
        at: &Path,
        depth: usize,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let count = |key: &str| keywords.get(key).and_then(Value::as_u64);
        let length = items.len() as u64;
        if let Some(most) = count("maxItems").filter(|most| length > *most) {
            problems.push(at.problem(
                span,
                &format!("must have at most {most} items, not {length}"),
            ));
        }
        if let Some(least) = count("minItems").filter(|least| whole && length < *least) {
            problems.push(at.problem(
                span,
                &format!("must have at least {least} items, not {length}"),
            ));
        }
        let (first, rest) = match (keywords.get("prefixItems"), keywords.get("items")) {
            (Some(Value::Array(first)), rest) => (first.as_slice(), rest),
            (_, Some(Value::Array(first))) => (first.as_slice(), keywords.get("additionalItems")),
            (_, rest) => (&[][..], rest),
        };
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                problems.extend(self.value(schema, item, &at.item(index), depth + 1));
            }
        }
        problems
    }

    fn object(
        &self,
        keywords: &Map<String, Value>,
        fields: &[Field],
        whole: bool,
        span: Span,
        at: &Path,
        depth: usize,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let none = Map::new();
        let properties = keywords
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&none);
        let given = |name: &str| fields.iter().find(|field| field.name == name);
        let is_left_out = |name: &str| match given(name) {
            Some(field) => matches!(field.value.value, Known::Undefined),
            None => whole,
        };
        let required = keywords.get("required").and_then(Value::as_array);
        let missing: Vec<&str> = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .filter(|name| is_left_out(name))
            .collect();

        let additional = keywords.get("additionalProperties");
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let has_patterns = patterns.is_some_and(|patterns| !patterns.is_empty());
        let elsewhere = [
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "if",
            "dependentSchemas",
            "dependencies",
        ]
        .iter()
        .any(|key| keywords.contains_key(*key));
        let mut mended: Vec<&str> = Vec::new();
        for field in fields {
            let path = at.field(&field.name);
            if let Some(schema) = properties.get(&field.name) {
                problems.extend(self.value(schema, &field.value, &path, depth + 1));
                continue;
            }
            if has_patterns || matches!(field.value.value, Known::Undefined) {
                continue;
            }
            // A name that was given correctly as well is not the one that was meant.
            let others = properties
                .keys()
                .map(String::as_str)
                .filter(|name| given(name).is_none());
            let meant = names::typo_of(&field.name, others);
            match (additional, meant) {
                (Some(Value::Bool(false)), _) => {}
                (None, Some(_)) if !elsewhere => {}
                (Some(schema), _) if schema.is_object() => {
                    problems.extend(self.value(schema, &field.value, &path, depth + 1));
                    continue;
                }
                _ => continue,
            }
            let hint = match meant {
                Some(name) => format!("; did you mean `{name}`?"),
                None if properties.is_empty() => "; it takes none".to_owned(),
                None => {
                    let names: Vec<&str> = properties.keys().map(String::as_str).take(12).collect();
                    format!("; there is {}", names::list(&names, "and"))
                }
            };
            mended.extend(meant);
            problems.push(Problem {
                span: field.key,
                message: format!("there is no argument `{}`{hint}", path.text),
                fix: meant.map(|name| (field.key, key(name))),
                depth: path.depth,
            });
        }
        for name in missing {
            // Told already, with the name it was given under.
            if mended.contains(&name) {
                continue;
            }
            let ty = properties.get(name).map(|schema| self.printed(schema));
            let ty = ty
                .filter(|ty| ty != "unknown")
                .map(|ty| format!(": {ty}"))
                .unwrap_or_default();
            let path = at.field(name);
            problems.push(Problem {
                span,
                message: format!("`{}` is missing{ty}", path.text),
                fix: None,
                depth: path.depth,
            });
        }
        problems
    }

    fn printed(&self, schema: &Value) -> String {
        pml_types::one_line(self.root, schema, MAX_TYPE)
    }
}

/// The same value in the type that is wanted, where a person would see them as the same.
fn convert(allowed: &[&str], value: &Known) -> Option<String> {
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

fn key(name: &str) -> String {
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

fn kind(value: &Known) -> &'static str {
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

fn shown(value: &Known) -> String {
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

fn check_text(keywords: &Map<String, Value>, text: &str, span: Span, at: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    let count = |key: &str| keywords.get(key).and_then(Value::as_u64);
    let length = text.chars().count() as u64;
    if let Some(least) = count("minLength").filter(|least| length < *least) {
        let what = match (least, length) {
            (1, 0) => "must not be empty".to_owned(),
            _ => format!("must have at least {least} characters, not {length}"),
        };
        problems.push(at.problem(span, &what));
    }
    if let Some(most) = count("maxLength").filter(|most| length > *most) {
        problems.push(at.problem(
            span,
            &format!("must have at most {most} characters, not {length}"),
        ));
    }
    if let Some(Value::String(pattern)) = keywords.get("pattern")
        // A pattern in words that only JavaScript knows refuses nothing.
        && let Ok(regex) = Regex::new(pattern)
        && !regex.is_match(text)
    {
        problems.push(at.problem(span, &format!("must match /{pattern}/")));
    }
    problems
}

fn check_number(keywords: &Map<String, Value>, number: f64, span: Span, at: &Path) -> Vec<Problem> {
    let bound = |key: &str| keywords.get(key).and_then(Value::as_f64);
    let told =
        |what: &str, bound: f64| at.problem(span, &format!("must be {what} {bound}, not {number}"));
    let mut problems = Vec::new();
    problems.extend(
        bound("minimum")
            .filter(|least| number < *least)
            .map(|least| told("at least", least)),
    );
    problems.extend(
        bound("maximum")
            .filter(|most| number > *most)
            .map(|most| told("at most", most)),
    );
    problems.extend(
        bound("exclusiveMinimum")
            .filter(|least| number <= *least)
            .map(|least| told("more than", least)),
    );
    problems.extend(
        bound("exclusiveMaximum")
            .filter(|most| number >= *most)
            .map(|most| told("less than", most)),
    );
    // Fractions do not divide exactly, whole numbers of a moderate size do.
    let divides = |step: f64| {
        step.fract() == 0.0 && number.fract() == 0.0 && step.abs() < 1e15 && number.abs() < 1e15
    };
    problems.extend(
        bound("multipleOf")
            .filter(|step| *step > 0.0 && divides(*step) && number % step != 0.0)
            .map(|step| told("a multiple of", step)),
    );
    problems
}
