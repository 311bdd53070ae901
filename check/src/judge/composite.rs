//! Arrays and objects against a schema, part by part.

use serde_json::{Map, Value};
use swc_core::common::Span;

use super::Judge;
use super::problem::{Path, Problem};
use super::words::key;
use crate::literal::{Field, Known, Literal};
use crate::names;

impl Judge<'_> {
    pub(super) fn array(
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

    pub(super) fn object(
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
        let elsewhere = at.composed
            || [
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
}
