//! Infers the type of a tool's results from observed values, for servers that declare no output schema.
//!
//! A shape holds field names and types, never a value. Keys that look like data (paths, numbers,
//! addresses) are treated as data: an object with such keys is recorded as a map with any key.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Nesting levels that are recorded; deeper values count as anything.
const MAX_DEPTH: usize = 8;
/// Fields of one object; with more, the object counts as a map.
const MAX_FIELDS: usize = 48;
/// Optional fields of one object; with more, the object counts as a map.
const MAX_OPTIONAL: usize = 24;
/// A longer key is data.
const MAX_NAME: usize = 40;
/// Elements of one array that are inspected.
const MAX_ELEMENTS: usize = 50;
/// Values of one result that are inspected.
const MAX_VALUES: usize = 2_000;

/// The union of all result types of one tool so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shape {
    null: bool,
    boolean: bool,
    number: bool,
    string: bool,
    array: Option<Box<Shape>>,
    object: Option<Fields>,
    /// Nested too deeply to be recorded.
    anything: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Fields {
    Named(BTreeMap<String, ObservedField>),
    /// A map: any key, and the shape of all values.
    AnyKey(Box<Shape>),
}

#[derive(Debug, Clone, PartialEq)]
struct ObservedField {
    shape: Shape,
    /// Whether every object had it.
    always: bool,
}

impl Shape {
    /// Widens the shape so that `value` matches it; returns whether it changed. The cost is bounded for
    /// values of any size.
    pub fn observe(&mut self, value: &Value) -> bool {
        let mut left = MAX_VALUES;
        let seen = Self::of(value, 0, &mut left);
        let before = self.clone();
        self.merge(seen);
        *self != before
    }

    /// The shape as a JSON Schema, for the generators and for storage.
    pub fn to_schema(&self) -> Value {
        let mut members = Vec::new();
        for (seen, name) in [
            (self.string, "string"),
            (self.number, "number"),
            (self.boolean, "boolean"),
        ] {
            if seen {
                members.push(json!({ "type": name }));
            }
        }
        if let Some(items) = &self.array {
            members.push(match items.is_empty() {
                true => json!({ "type": "array" }),
                false => json!({ "type": "array", "items": items.to_schema() }),
            });
        }
        if let Some(fields) = &self.object {
            members.push(fields.to_schema());
        }
        if self.null {
            members.push(json!({ "type": "null" }));
        }
        if self.anything {
            members.clear();
        }
        match members.len() {
            0 => json!({}),
            1 => members.swap_remove(0),
            _ => json!({ "anyOf": members }),
        }
    }

    /// Parses the output of [`to_schema`](Self::to_schema). Of any other schema, the parts that are not
    /// understood count as anything.
    pub fn from_schema(schema: &Value) -> Self {
        let mut shape = Self::default();
        shape.add_schema(schema, 0);
        shape
    }

    fn add_schema(&mut self, schema: &Value, depth: usize) {
        if depth > 2 * MAX_DEPTH {
            return;
        }
        if let Some(Value::Array(members)) = schema.get("anyOf") {
            members
                .iter()
                .for_each(|member| self.add_schema(member, depth + 1));
            return;
        }
        let read = |schema: &Value| {
            let mut shape = Self::default();
            shape.add_schema(schema, depth + 1);
            shape
        };
        match schema["type"].as_str() {
            Some("null") => self.null = true,
            Some("boolean") => self.boolean = true,
            Some("number") => self.number = true,
            Some("string") => self.string = true,
            Some("array") => {
                self.array = Some(Box::new(schema.get("items").map(read).unwrap_or_default()));
            }
            Some("object") => {
                self.object = Some(match schema.get("additionalProperties") {
                    Some(any) => Fields::AnyKey(Box::new(read(any))),
                    None => Fields::Named(named(schema, read)),
                });
            }
            _ => self.anything = true,
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn of(value: &Value, depth: usize, left: &mut usize) -> Self {
        let mut shape = Self::default();
        if *left == 0 {
            return shape;
        }
        *left -= 1;
        match value {
            Value::Null => shape.null = true,
            Value::Bool(_) => shape.boolean = true,
            Value::Number(_) => shape.number = true,
            Value::String(_) => shape.string = true,
            _ if depth == MAX_DEPTH => shape.anything = true,
            Value::Array(values) => {
                let mut items = Self::default();
                for value in values.iter().take(MAX_ELEMENTS) {
                    items.merge(Self::of(value, depth + 1, left));
                }
                shape.array = Some(Box::new(items));
            }
            Value::Object(fields) => shape.object = Some(Fields::of(fields, depth, left)),
        }
        shape
    }

    /// Widens the shape so that everything that matches `other` matches it.
    pub fn merge(&mut self, other: Self) {
        self.null |= other.null;
        self.boolean |= other.boolean;
        self.number |= other.number;
        self.string |= other.string;
        self.anything |= other.anything;
        match (&mut self.array, other.array) {
            (Some(known), Some(seen)) => known.merge(*seen),
            (known @ None, seen) => *known = seen,
            (Some(_), None) => {}
        }
        self.object = match (self.object.take(), other.object) {
            (Some(known), Some(seen)) => Some(known.merged(seen)),
            (known, seen) => known.or(seen),
        };
    }
}

impl Fields {
    fn of(fields: &Map<String, Value>, depth: usize, left: &mut usize) -> Self {
        if fields.len() > MAX_FIELDS || !fields.keys().all(|name| is_name(name)) {
            let mut any = Shape::default();
            for value in fields.values().take(MAX_ELEMENTS) {
                any.merge(Shape::of(value, depth + 1, left));
            }
            return Self::AnyKey(Box::new(any));
        }
        let fields = fields.iter().map(|(name, value)| {
            let shape = Shape::of(value, depth + 1, left);
            (
                name.clone(),
                ObservedField {
                    shape,
                    always: true,
                },
            )
        });
        Self::Named(fields.collect())
    }

    fn merged(self, seen: Self) -> Self {
        let (mut known, mut seen) = match (self, seen) {
            (Self::Named(known), Self::Named(seen)) => (known, seen),
            (one, two) => {
                let mut any = one.into_any_key();
                any.merge(two.into_any_key());
                return Self::AnyKey(Box::new(any));
            }
        };
        for (name, field) in &mut known {
            match seen.remove(name) {
                Some(seen) => {
                    field.always &= seen.always;
                    field.shape.merge(seen.shape);
                }
                None => field.always = false,
            }
        }
        for (name, field) in seen {
            let always = false;
            known.insert(name, ObservedField { always, ..field });
        }
        let optional = known.values().filter(|field| !field.always).count();
        let merged = Self::Named(known);
        match &merged {
            Self::Named(known) if known.len() <= MAX_FIELDS && optional <= MAX_OPTIONAL => merged,
            _ => Self::AnyKey(Box::new(merged.into_any_key())),
        }
    }

    fn into_any_key(self) -> Shape {
        match self {
            Self::AnyKey(any) => *any,
            Self::Named(fields) => {
                let mut any = Shape::default();
                for field in fields.into_values() {
                    any.merge(field.shape);
                }
                any
            }
        }
    }

    fn to_schema(&self) -> Value {
        match self {
            Self::AnyKey(any) => {
                json!({ "type": "object", "additionalProperties": any.to_schema() })
            }
            Self::Named(fields) => {
                let properties: Map<String, Value> = fields
                    .iter()
                    .map(|(name, field)| (name.clone(), field.shape.to_schema()))
                    .collect();
                let always = fields.iter().filter(|(_, field)| field.always);
                let required: Vec<&String> = always.map(|(name, _)| name).collect();
                json!({ "type": "object", "properties": properties, "required": required })
            }
        }
    }
}

fn named(schema: &Value, read: impl Fn(&Value) -> Shape) -> BTreeMap<String, ObservedField> {
    let always = |name: &str| {
        schema["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|required| required == name))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .take(MAX_FIELDS)
        .map(|(name, schema)| {
            let field = ObservedField {
                shape: read(schema),
                always: always(name),
            };
            (name.clone(), field)
        })
        .collect()
}

/// Whether a key looks like a field name rather than data. Many digits mean an id, a date or a hash; the
/// characters of paths and addresses are not allowed.
fn is_name(key: &str) -> bool {
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    !key.is_empty()
        && key.len() <= MAX_NAME
        && digits <= 3
        && !key.starts_with(|c: char| c.is_ascii_digit())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(values: &[Value]) -> Shape {
        let mut shape = Shape::default();
        for value in values {
            shape.observe(value);
        }
        shape
    }

    #[test]
    fn a_field_that_was_missing_once_is_optional() {
        let shape = seen(&[json!({ "a": 1, "b": "x" }), json!({ "a": null })]);
        let expected = json!({
            "type": "object",
            "properties": {
                "a": { "anyOf": [{ "type": "number" }, { "type": "null" }] },
                "b": { "type": "string" },
            },
            "required": ["a"],
        });
        assert_eq!(shape.to_schema(), expected);
    }

    #[test]
    fn a_value_that_fits_changes_nothing() {
        let mut shape = seen(&[json!([{ "a": 1 }, { "a": 2, "b": [] }])]);
        assert!(!shape.observe(&json!([{ "a": 3 }])));
        assert!(shape.observe(&json!("text")));
    }

    #[test]
    fn keys_that_are_data_are_not_recorded() {
        for value in [
            json!({ "ada@example.test": 1, "b": 2 }),
            json!({ "/home/ada/a.txt": { "n": 1 } }),
            json!({ "2026-01-31": 1 }),
            json!({ "550e8400-e29b-41d4-a716-446655440000": 1 }),
        ] {
            let schema = seen(&[value]).to_schema();
            assert!(schema.get("properties").is_none(), "{schema}");
            assert!(schema.get("additionalProperties").is_some(), "{schema}");
        }
        let many: Vec<Value> = (0..30u8).map(|n| json!({ format!("{}", (b'a' + n % 26) as char).repeat(1 + n as usize / 26): 1 })).collect();
        let schema = seen(&many).to_schema();
        assert_eq!(
            schema,
            json!({ "type": "object", "additionalProperties": { "type": "number" } })
        );
    }

    #[test]
    fn no_value_is_ever_kept() {
        let value = json!({ "name": "secret-1", "list": ["secret-2", { "deep": "secret-3" }], "n": 424242 });
        let kept = seen(&[value]).to_schema().to_string();
        assert!(
            !kept.contains("secret") && !kept.contains("424242"),
            "{kept}"
        );
    }

    #[test]
    fn a_shape_survives_the_round_trip_through_its_schema() {
        let mut deep = json!("end");
        for _ in 0..20 {
            deep = json!({ "next": deep, "list": [1, null] });
        }
        let shape = seen(&[json!([1, "a", { "x": true }]), json!({ "k 1": [[]] }), deep]);
        assert_eq!(Shape::from_schema(&shape.to_schema()), shape);
    }

    #[test]
    fn a_large_result_costs_no_more_than_a_part_of_it() {
        let rows: Vec<Value> = (0..200_000).map(|n| json!({ "n": n, "t": "x" })).collect();
        let schema = seen(&[Value::Array(rows)]).to_schema();
        assert_eq!(schema["items"]["required"], json!(["n", "t"]));
    }
}
