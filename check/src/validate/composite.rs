//! Arrays and objects against a schema, element by element.

use pml_nearest::{quoted_list, typo_of};
use serde_json::{Map, Value};
use swc_core::common::Span;

use super::Validator;
use super::describe::property_key;
use super::violation::{Path, Violation};
use crate::literal::{Field, KnownValue, Literal};

/// Keywords that may describe properties which `properties` does not have.
const COMPOSING_KEYWORDS: [&str; 7] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "dependentSchemas",
    "dependencies",
];
/// Names that a message lists.
const MAX_LISTED: usize = 12;

/// The schema of a value, and where the value is.
pub(super) struct ValueContext<'a> {
    pub keywords: &'a Map<String, Value>,
    pub span: Span,
    pub path: &'a Path,
    /// The depth of the schema, which [`super::MAX_DEPTH`] bounds.
    pub depth: usize,
}

/// An object literal.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub fields: &'a [Field],
    /// Every key is known.
    pub complete: bool,
}

impl Fields<'_> {
    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

    fn lacks(&self, name: &str) -> bool {
        match self.fields.iter().find(|field| field.name == name) {
            Some(field) => matches!(field.value.value, KnownValue::Undefined),
            None => self.complete,
        }
    }
}

impl Validator<'_> {
    pub(super) fn array(
        &self,
        context: &ValueContext<'_>,
        items: &[Literal],
        complete: bool,
    ) -> Vec<Violation> {
        let ValueContext {
            keywords,
            span,
            path,
            depth,
        } = *context;
        let mut violations = Vec::new();
        let count = |key: &str| keywords.get(key).and_then(Value::as_u64);
        let length = items.len() as u64;
        if let Some(most) = count("maxItems").filter(|most| length > *most) {
            violations.push(path.violation(
                span,
                &format!("must have at most {most} items, not {length}"),
            ));
        }
        if let Some(least) = count("minItems").filter(|least| complete && length < *least) {
            violations.push(path.violation(
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
                violations.extend(self.value(schema, item, &path.item(index), depth + 1));
            }
        }
        violations
    }

    pub(super) fn object(&self, context: &ValueContext<'_>, object: Fields<'_>) -> Vec<Violation> {
        let none = Map::new();
        let properties = context
            .keywords
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&none);
        let mut violations = Vec::new();
        let mut corrected: Vec<&str> = Vec::new();
        for field in object.fields {
            if let Some(schema) = properties.get(&field.name) {
                let path = context.path.field(&field.name);
                violations.extend(self.value(schema, &field.value, &path, context.depth + 1));
                continue;
            }
            // A property that is present under its right name is not the one that was meant.
            let absent = properties
                .keys()
                .map(String::as_str)
                .filter(|name| !object.has(name));
            let meant = typo_of(&field.name, absent);
            match self.undeclared_field(context, field, meant) {
                Undeclared::Refused => {
                    corrected.extend(meant);
                    violations.push(unknown_argument(context, field, meant, properties));
                }
                Undeclared::Checked(found) => violations.extend(found),
            }
        }
        let required = context.keywords.get("required").and_then(Value::as_array);
        let missing = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            // A misspelled argument is reported once, under the name that the script gave it.
            .filter(|name| object.lacks(name) && !corrected.contains(name));
        violations.extend(missing.map(|name| self.missing_argument(context, name, properties)));
        violations
    }

    /// What the schema says about a field that `properties` does not have.
    fn undeclared_field(
        &self,
        context: &ValueContext<'_>,
        field: &Field,
        meant: Option<&str>,
    ) -> Undeclared {
        let keywords = context.keywords;
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let has_patterns = patterns.is_some_and(|patterns| !patterns.is_empty());
        if has_patterns || matches!(field.value.value, KnownValue::Undefined) {
            return Undeclared::Checked(Vec::new());
        }
        let is_composed = context.path.composed
            || COMPOSING_KEYWORDS
                .iter()
                .any(|key| keywords.contains_key(*key));
        match (keywords.get("additionalProperties"), meant) {
            (Some(Value::Bool(false)), _) => Undeclared::Refused,
            // An open schema accepts any name, but a near miss of a declared one is a mistake.
            (None, Some(_)) if !is_composed => Undeclared::Refused,
            (Some(schema), _) if schema.is_object() => {
                let path = context.path.field(&field.name);
                Undeclared::Checked(self.value(schema, &field.value, &path, context.depth + 1))
            }
            _ => Undeclared::Checked(Vec::new()),
        }
    }

    fn missing_argument(
        &self,
        context: &ValueContext<'_>,
        name: &str,
        properties: &Map<String, Value>,
    ) -> Violation {
        let ty = properties
            .get(name)
            .map(|schema| self.type_of(schema))
            .filter(|ty| ty != "unknown")
            .map(|ty| format!(": {ty}"))
            .unwrap_or_default();
        let path = context.path.field(name);
        Violation {
            span: context.span,
            message: format!("`{}` is missing{ty}", path.text),
            fix: None,
            depth: path.depth,
        }
    }
}

enum Undeclared {
    /// The tool has no such argument.
    Refused,
    /// The name is allowed; these are the violations of the value.
    Checked(Vec<Violation>),
}

fn unknown_argument(
    context: &ValueContext<'_>,
    field: &Field,
    meant: Option<&str>,
    properties: &Map<String, Value>,
) -> Violation {
    let hint = match meant {
        Some(name) => format!("; did you mean `{name}`?"),
        None if properties.is_empty() => "; it takes none".to_owned(),
        None => {
            let names: Vec<&str> = properties
                .keys()
                .map(String::as_str)
                .take(MAX_LISTED)
                .collect();
            format!("; there is {}", quoted_list(&names, "and"))
        }
    };
    let path = context.path.field(&field.name);
    Violation {
        span: field.key,
        message: format!("there is no argument `{}`{hint}", path.text),
        fix: meant.map(|name| (field.key, property_key(name))),
        depth: path.depth,
    }
}
