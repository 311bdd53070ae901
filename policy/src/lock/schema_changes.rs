//! How one JSON Schema differs from another.
//!
//! What is compared: types, enumerations, properties, required properties, additional properties, items,
//! and bounds. Any other difference of meaning counts as breaking, because nothing shows that it is not.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::changes::{Detail, Impact};

/// Who has to fit the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The arguments, which callers write.
    Input,
    /// The result, which callers read.
    Output,
}

/// What happens to the set of values that a schema accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accepts {
    Less,
    More,
    Other,
}

/// Keys that no value is checked against.
const TEXTS: [&str; 6] = [
    "title",
    "description",
    "examples",
    "$comment",
    "default",
    "deprecated",
];
/// Bounds that accept less when they grow.
const LOWER_BOUNDS: [&str; 5] = [
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];
/// Bounds that accept more when they grow.
const UPPER_BOUNDS: [&str; 5] = [
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];
/// Keys that are compared by what they mean.
const COMPARED: [&str; 9] = [
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "$defs",
    "definitions",
];
/// The names of all types.
const TYPES: [&str; 6] = ["array", "boolean", "null", "number", "object", "string"];

/// Appends the differences from `before` to `after`.
pub fn compare(place: &str, side: Side, before: &Value, after: &Value, details: &mut Vec<Detail>) {
    Comparison { side, details }.schemas(place, before, after);
}

/// What makes arguments wrong that fitted the input schema `before`, a sentence each.
pub fn breaking_changes(before: &Value, after: &Value) -> Vec<String> {
    let mut details = Vec::new();
    compare("arguments", Side::Input, before, after, &mut details);
    details.retain(|detail| detail.impact == Impact::Breaking);
    let sentence = |detail: &Detail| match detail.what.is_empty() {
        true => format!("{} is another one", detail.place),
        false => format!("{} {}", detail.place, detail.what),
    };
    details.iter().map(sentence).collect()
}

struct Comparison<'a> {
    side: Side,
    details: &'a mut Vec<Detail>,
}

impl Comparison<'_> {
    fn schemas(&mut self, place: &str, before: &Value, after: &Value) {
        if before == after {
            return;
        }
        let empty = Map::new();
        let (Some(before), Some(after)) = (object(before, &empty), object(after, &empty)) else {
            return self.add(place, Accepts::Other, "has another schema");
        };
        if before == after {
            return;
        }
        let known = self.details.len();
        for key in TEXTS {
            if before.get(key) != after.get(key) {
                let impact = match key {
                    "default" => Impact::Compatible,
                    _ => Impact::Cosmetic,
                };
                let place = format!("{place} ({key})");
                self.details.push(Detail {
                    before: before.get(key).map(shown),
                    after: after.get(key).map(shown),
                    ..Detail::new(&place, impact, "")
                });
            }
        }
        self.types(place, before, after);
        self.values(place, before, after);
        self.bounds(place, before, after);
        self.properties(place, before, after);
        if let (Some(before), Some(after)) = (before.get("items"), after.get("items")) {
            self.schemas(&format!("{place}[]"), before, after);
        } else if let Some(accepts) = presence(before, after, "items") {
            self.add(
                &format!("{place}[]"),
                accepts,
                "has a schema, or has none any more",
            );
        }
        for key in ["$defs", "definitions"] {
            self.definitions(place, key, before, after);
        }
        let compared = [&TEXTS[..], &LOWER_BOUNDS, &UPPER_BOUNDS, &COMPARED].concat();
        let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for key in keys {
            if !compared.contains(&key.as_str()) && before.get(key) != after.get(key) {
                let accepts = match (before.get(key), after.get(key), key.as_str()) {
                    (None, Some(_), "pattern" | "format") => Accepts::Less,
                    (Some(_), None, "pattern" | "format") => Accepts::More,
                    _ => Accepts::Other,
                };
                self.exchanged(place, key, accepts, before, after);
            }
        }
        if self.details.len() == known && in_order(before) != in_order(after) {
            // A difference that nothing above explains.
            self.add(place, Accepts::Other, "has another schema");
        }
    }

    /// Named schemas: what refers to them, and whether it negates them, is not known.
    fn definitions(
        &mut self,
        place: &str,
        key: &str,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) {
        let empty = Map::new();
        let (old, new) = (members(before, key, &empty), members(after, key, &empty));
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            if old.get(name) == new.get(name) {
                continue;
            }
            let mut inside = Vec::new();
            if let (Some(old), Some(new)) = (old.get(name), new.get(name)) {
                compare(&format!("{place} {name}"), self.side, old, new, &mut inside);
                if inside
                    .iter()
                    .all(|detail| detail.impact == Impact::Cosmetic)
                {
                    self.details.extend(inside);
                    continue;
                }
            }
            let reference = format!("\"#/{key}/{name}\"");
            let is_used = |schema: &Map<String, Value>| {
                Value::Object(schema.clone())
                    .to_string()
                    .contains(&reference)
            };
            // A name that only the new schema knows is a difference where it is used.
            let impact = match (old.get(name), new.get(name)) {
                (None, Some(_)) if !is_used(before) => Impact::Compatible,
                (Some(_), None) if !is_used(after) => Impact::Compatible,
                _ => Impact::Breaking,
            };
            self.details.push(Detail {
                before: old.get(name).map(shown),
                after: new.get(name).map(shown),
                ..Detail::new(&format!("{place} ({key}/{name})"), impact, "")
            });
        }
    }

    /// A key with another value, which is shown before and after.
    fn exchanged(
        &mut self,
        place: &str,
        key: &str,
        accepts: Accepts,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) {
        let impact = self.impact(accepts);
        self.details.push(Detail {
            before: before.get(key).map(shown),
            after: after.get(key).map(shown),
            ..Detail::new(&format!("{place} ({key})"), impact, "")
        });
    }

    fn types(&mut self, place: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
        let (old, new) = (types(before), types(after));
        if let Some(accepts) = compare_sets(&old, &new) {
            let words =
                |types: &BTreeSet<&str>| types.iter().copied().collect::<Vec<_>>().join(" or ");
            self.add(
                place,
                accepts,
                format!("is {}, and was {}", words(&new), words(&old)),
            );
        } else if before.get("type") != after.get("type")
            && !(is_type(before.get("type")) && is_type(after.get("type")))
        {
            self.exchanged(place, "type", Accepts::Other, before, after);
        }
    }

    fn values(&mut self, place: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
        if before.get("const") != after.get("const") {
            let accepts = presence(before, after, "const").unwrap_or(Accepts::Other);
            self.exchanged(place, "const", accepts, before, after);
        }
        let values = |schema: &Map<String, Value>| -> Option<BTreeSet<String>> {
            let values = schema.get("enum")?.as_array()?;
            Some(values.iter().map(Value::to_string).collect())
        };
        let (accepts, what) = match (values(before), values(after)) {
            (None, None) => return,
            (None, Some(_)) => (Accepts::Less, "accepts only some values now".to_owned()),
            (Some(_), None) => (Accepts::More, "accepts other values too".to_owned()),
            (Some(old), Some(new)) => {
                let Some(accepts) = compare_sets(&old, &new) else {
                    return;
                };
                let listed = |one: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
                    one.difference(other).cloned().collect()
                };
                let (gone, added) = (listed(&old, &new), listed(&new, &old));
                let part = |words: &str, values: Vec<String>| match values.is_empty() {
                    true => None,
                    false => Some(format!("{words} {}", values.join(", "))),
                };
                let parts = [part("does not accept", gone), part("accepts also", added)];
                (
                    accepts,
                    parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
                )
            }
        };
        self.add(place, accepts, what);
    }

    fn bounds(&mut self, place: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
        let lower = LOWER_BOUNDS.map(|key| (key, false));
        let upper = UPPER_BOUNDS.map(|key| (key, true));
        for (key, grows_wider) in lower.into_iter().chain(upper) {
            let number = |schema: &Map<String, Value>| schema.get(key).and_then(Value::as_f64);
            let (accepts, what) = match (number(before), number(after)) {
                (None, Some(new)) if !before.contains_key(key) => {
                    (Accepts::Less, format!("has {key} {new}"))
                }
                (Some(old), None) if !after.contains_key(key) => {
                    (Accepts::More, format!("has {key} {old} no longer"))
                }
                (Some(old), Some(new)) if old != new => {
                    let accepts = match (new > old) == grows_wider {
                        true => Accepts::More,
                        false => Accepts::Less,
                    };
                    (accepts, format!("has {key} {new}, and had {old}"))
                }
                _ if before.get(key) == after.get(key) => continue,
                // Not a number, or one that has too many digits.
                _ => {
                    self.exchanged(place, key, Accepts::Other, before, after);
                    continue;
                }
            };
            self.add(place, accepts, what);
        }
    }

    fn properties(&mut self, place: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
        let empty = Map::new();
        let of = |schema| members(schema, "properties", &empty);
        let (old, new) = (of(before), of(after));
        let (was_required, is_required) = (required(before), required(after));
        for (name, schema) in old {
            let place = format!("{place}.{name}");
            match new.get(name) {
                Some(now) => {
                    self.schemas(&place, schema, now);
                    self.requirement(
                        &place,
                        was_required.contains(name),
                        is_required.contains(name),
                    );
                }
                None => self.push(&place, Impact::Breaking, "is gone"),
            }
        }
        for (name, schema) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
            let place = format!("{place}.{name}");
            let (impact, what) = match self.side == Side::Input && is_required.contains(name) {
                true => (Impact::Breaking, "is new and required"),
                false => (Impact::Compatible, "is new"),
            };
            self.details.push(Detail {
                after: Some(shown(schema)),
                ..Detail::new(&place, impact, what)
            });
            // Before, every property without a schema of its own had this one.
            if let Some(other @ Value::Object(_)) = before.get("additionalProperties") {
                self.schemas(&place, other, schema);
            }
        }
        for name in was_required.symmetric_difference(&is_required) {
            if !old.contains_key(*name) && !new.contains_key(*name) {
                let place = format!("{place}.{name}");
                self.requirement(
                    &place,
                    was_required.contains(name),
                    is_required.contains(name),
                );
            }
        }
        let closed = |schema: &Map<String, Value>| {
            schema.get("additionalProperties") == Some(&Value::Bool(false))
        };
        match (closed(before), closed(after)) {
            (false, true) => self.add(place, Accepts::Less, "accepts no other properties"),
            (true, false) => self.add(place, Accepts::More, "accepts other properties"),
            (true, true) => {}
            (false, false) => {
                let open = Value::Bool(true);
                let schema = |schema: &Map<String, Value>| {
                    schema.get("additionalProperties").unwrap_or(&open).clone()
                };
                let (before, after) = (schema(before), schema(after));
                self.schemas(&format!("{place}.*"), &before, &after);
            }
        }
    }

    fn requirement(&mut self, place: &str, was: bool, is: bool) {
        match (was, is) {
            (false, true) => self.add(place, Accepts::Less, "is required"),
            (true, false) => self.add(place, Accepts::More, "is not required any more"),
            _ => {}
        }
    }

    fn add(&mut self, place: &str, accepts: Accepts, what: impl Into<String>) {
        let impact = self.impact(accepts);
        self.push(place, impact, what);
    }

    fn push(&mut self, place: &str, impact: Impact, what: impl Into<String>) {
        self.details.push(Detail::new(place, impact, what));
    }

    /// A caller must be able to write what it wrote, and to read what it reads.
    fn impact(&self, accepts: Accepts) -> Impact {
        match (self.side, accepts) {
            (Side::Input, Accepts::More) | (Side::Output, Accepts::Less) => Impact::Compatible,
            _ => Impact::Breaking,
        }
    }
}

/// A schema as an object: `true` accepts everything, as `{}` does.
fn object<'a>(schema: &'a Value, empty: &'a Map<String, Value>) -> Option<&'a Map<String, Value>> {
    match schema {
        Value::Bool(true) => Some(empty),
        schema => schema.as_object(),
    }
}

/// The named schemas below a key.
fn members<'a>(
    schema: &'a Map<String, Value>,
    key: &str,
    empty: &'a Map<String, Value>,
) -> &'a Map<String, Value> {
    schema.get(key).and_then(Value::as_object).unwrap_or(empty)
}

fn required(schema: &Map<String, Value>) -> BTreeSet<&String> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten();
    names
        .filter_map(|name| match name {
            Value::String(name) => Some(name),
            _ => None,
        })
        .collect()
}

/// The types that a schema accepts. `number` accepts whole numbers too.
fn types(schema: &Map<String, Value>) -> BTreeSet<&str> {
    let mut types: BTreeSet<&str> = match schema.get("type") {
        Some(Value::String(name)) => BTreeSet::from([name.as_str()]),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => TYPES.into_iter().collect(),
    };
    if types.contains("number") {
        types.insert("integer");
    }
    types
}

/// How a set of accepted values changes; `None` if it does not.
fn compare_sets<T: Ord>(before: &BTreeSet<T>, after: &BTreeSet<T>) -> Option<Accepts> {
    match (before.is_subset(after), after.is_subset(before)) {
        (true, true) => None,
        (true, false) => Some(Accepts::More),
        (false, true) => Some(Accepts::Less),
        (false, false) => Some(Accepts::Other),
    }
}

/// A schema in which lists that are sets are in order.
fn in_order(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema.clone();
    for key in ["enum", "required", "type"] {
        if let Some(Value::Array(values)) = schema.get_mut(key) {
            values.sort_by_cached_key(Value::to_string);
        }
    }
    schema
}

/// Whether a `type` is one that this file understands.
fn is_type(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::String(_)) => true,
        Some(Value::Array(names)) => names.iter().all(Value::is_string),
        Some(_) => false,
    }
}

fn presence(before: &Map<String, Value>, after: &Map<String, Value>, key: &str) -> Option<Accepts> {
    match (before.contains_key(key), after.contains_key(key)) {
        (false, true) => Some(Accepts::Less),
        (true, false) => Some(Accepts::More),
        _ => None,
    }
}

/// A string as its text, anything else as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "schema_changes_tests.rs"]
mod tests;
