//! Infers the type of a tool's results from observed values, for servers that declare no output schema.
//!
//! A shape holds field names and types, never a value. Keys that look like data (paths, numbers,
//! addresses) are treated as data: an object with such keys is recorded as a map with any key. A key
//! can be data without looking like it (`{ "JohannaQuistorp": 3 }`), so [`Shape::confirmed_schema`],
//! which is what others see, contains only keys that the results of several calls had.

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
/// A key that the results of this many calls had is a field name.
const CONFIRMED_AFTER: u8 = 3;
/// The keyword of [`Shape::to_stored`] for the number of calls whose results had a field.
const CALLS: &str = "x-calls";

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
    /// How many calls had a result with it, up to [`CONFIRMED_AFTER`].
    calls: u8,
}

impl ObservedField {
    fn is_confirmed(&self) -> bool {
        self.calls >= CONFIRMED_AFTER
    }
}

/// Where two shapes that are merged come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The result of one call: a key in both was seen once.
    OneCall,
    /// Different calls.
    OtherCalls,
}

/// Which fields a schema contains, and whether it counts their calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    All,
    Confirmed,
    Stored,
}

impl Shape {
    /// Widens the shape so that `value` matches it; returns whether it changed. The cost is bounded for
    /// values of any size.
    pub fn observe(&mut self, value: &Value) -> bool {
        self.widen(Self::of_result(value))
    }

    /// The shape of one result. The cost is bounded for values of any size.
    pub fn of_result(value: &Value) -> Self {
        let mut left = MAX_VALUES;
        Self::of(value, 0, &mut left)
    }

    /// [`Shape::merge`]; returns whether the shape changed.
    pub fn widen(&mut self, seen: Self) -> bool {
        let before = self.clone();
        self.merge(seen);
        *self != before
    }

    /// The shape as a JSON Schema, with every key: for the user whose calls it was learned from.
    pub fn to_schema(&self) -> Value {
        self.schema(Detail::All)
    }

    /// The shape as a JSON Schema, with the keys that the results of several calls had: for others.
    /// An object without such a key is a map.
    pub fn confirmed_schema(&self) -> Value {
        self.schema(Detail::Confirmed)
    }

    /// The shape as [`Shape::from_schema`] reads it, with the number of calls that had each key.
    pub fn to_stored(&self) -> Value {
        self.schema(Detail::Stored)
    }

    /// Turns every object with a key that is data into a map.
    pub fn hide_keys(&mut self, is_data: &dyn Fn(&str) -> bool) {
        if let Some(items) = &mut self.array {
            items.hide_keys(is_data);
        }
        self.object = self.object.take().map(|fields| match fields {
            Fields::Named(named) if named.keys().any(|name| is_data(name)) => {
                let mut any = Fields::Named(named).into_any_key();
                any.hide_keys(is_data);
                Fields::AnyKey(Box::new(any))
            }
            Fields::Named(mut named) => {
                for field in named.values_mut() {
                    field.shape.hide_keys(is_data);
                }
                Fields::Named(named)
            }
            Fields::AnyKey(mut any) => {
                any.hide_keys(is_data);
                Fields::AnyKey(any)
            }
        });
    }

    fn schema(&self, detail: Detail) -> Value {
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
                false => json!({ "type": "array", "items": items.schema(detail) }),
            });
        }
        if let Some(fields) = &self.object {
            members.push(fields.schema(detail));
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

    /// Parses the output of [`to_stored`](Self::to_stored). Of any other schema, the parts that are not
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
                    items.merge_from(Self::of(value, depth + 1, left), Origin::OneCall);
                }
                shape.array = Some(Box::new(items));
            }
            Value::Object(fields) => shape.object = Some(Fields::of(fields, depth, left)),
        }
        shape
    }

    /// Widens the shape so that everything that matches `other`, the shape of other calls, matches it.
    pub fn merge(&mut self, other: Self) {
        self.merge_from(other, Origin::OtherCalls);
    }

    fn merge_from(&mut self, other: Self, origin: Origin) {
        self.null |= other.null;
        self.boolean |= other.boolean;
        self.number |= other.number;
        self.string |= other.string;
        self.anything |= other.anything;
        match (&mut self.array, other.array) {
            (Some(known), Some(seen)) => known.merge_from(*seen, origin),
            (known @ None, seen) => *known = seen,
            (Some(_), None) => {}
        }
        self.object = match (self.object.take(), other.object) {
            (Some(known), Some(seen)) => Some(known.merged(seen, origin)),
            (known, seen) => known.or(seen),
        };
    }
}

impl Fields {
    fn of(fields: &Map<String, Value>, depth: usize, left: &mut usize) -> Self {
        if fields.len() > MAX_FIELDS || !fields.keys().all(|name| is_name(name)) {
            let mut any = Shape::default();
            for value in fields.values().take(MAX_ELEMENTS) {
                any.merge_from(Shape::of(value, depth + 1, left), Origin::OneCall);
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
                    calls: 1,
                },
            )
        });
        Self::Named(fields.collect())
    }

    fn merged(self, seen: Self, origin: Origin) -> Self {
        let (mut known, mut seen) = match (self, seen) {
            (Self::Named(known), Self::Named(seen)) => (known, seen),
            (one, two) => {
                let mut any = one.into_any_key();
                any.merge_from(two.into_any_key(), origin);
                return Self::AnyKey(Box::new(any));
            }
        };
        for (name, field) in &mut known {
            match seen.remove(name) {
                Some(seen) => {
                    field.always &= seen.always;
                    field.calls = match origin {
                        Origin::OneCall => field.calls.max(seen.calls),
                        Origin::OtherCalls => (field.calls + seen.calls).min(CONFIRMED_AFTER),
                    };
                    field.shape.merge_from(seen.shape, origin);
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
                    any.merge_from(field.shape, Origin::OneCall);
                }
                any
            }
        }
    }

    fn schema(&self, detail: Detail) -> Value {
        match self {
            Self::AnyKey(any) => {
                json!({ "type": "object", "additionalProperties": any.schema(detail) })
            }
            Self::Named(fields)
                if detail == Detail::Confirmed
                    && !fields.is_empty()
                    && !fields.values().any(ObservedField::is_confirmed) =>
            {
                let any = self.clone().into_any_key();
                json!({ "type": "object", "additionalProperties": any.schema(detail) })
            }
            Self::Named(fields) => {
                let is_shown =
                    |field: &ObservedField| detail != Detail::Confirmed || field.is_confirmed();
                let shown = fields.iter().filter(|(_, field)| is_shown(field));
                let properties: Map<String, Value> = shown
                    .clone()
                    .map(|(name, field)| {
                        let mut schema = field.shape.schema(detail);
                        if detail == Detail::Stored {
                            schema[CALLS] = json!(field.calls);
                        }
                        (name.clone(), schema)
                    })
                    .collect();
                let always = shown.filter(|(_, field)| field.always);
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
    // A file of an earlier version does not count calls.
    let calls = |schema: &Value| match schema[CALLS].as_u64() {
        Some(calls) => u8::try_from(calls).map_or(CONFIRMED_AFTER, |n| n.clamp(1, CONFIRMED_AFTER)),
        None => 1,
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .take(MAX_FIELDS)
        .map(|(name, schema)| {
            let field = ObservedField {
                shape: read(schema),
                always: always(name),
                calls: calls(schema),
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
        let rows = || json!([{ "a": 1 }, { "a": 2, "b": [] }]);
        // Three calls confirm the keys.
        let mut shape = seen(&[rows(), rows(), rows()]);
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
        assert_eq!(Shape::from_schema(&shape.to_stored()), shape);
    }

    #[test]
    fn a_key_of_one_result_is_not_shown_to_others() {
        let tally = json!({ "JohannaQuistorp": 3, "ProjectNightfall": { "layoffs_berlin": 2 } });
        let shape = seen(&[tally.clone(), tally]);
        let shown = shape.confirmed_schema().to_string();
        assert!(!shown.contains("Johanna"), "{shown}");
        assert!(!shown.contains("layoffs"), "{shown}");
        let known = shape.to_schema().to_string();
        assert!(known.contains("JohannaQuistorp"), "{known}");
        // A result with many rows is one call.
        let rows: Vec<Value> = (0..20).map(|_| json!({ "BobUnderhill": 1 })).collect();
        let shown = seen(&[Value::Array(rows)]).confirmed_schema();
        let map = json!({ "type": "object", "additionalProperties": { "type": "number" } });
        assert_eq!(shown, json!({ "type": "array", "items": map }));
        // A field of every result is shown, the keys beside it are not.
        let votes = |name: &str| json!({ "total": 1, name: 1 });
        let shape = seen(&[votes("Ada"), votes("Bob"), votes("Cyd")]);
        let expected = json!({
            "type": "object",
            "properties": { "total": { "type": "number" } },
            "required": ["total"],
        });
        assert_eq!(shape.confirmed_schema(), expected);
        assert_eq!(
            Shape::from_schema(&shape.to_stored()).confirmed_schema(),
            expected
        );
    }

    #[test]
    fn a_key_that_is_private_makes_its_object_a_map() {
        let mut shape = seen(&[json!([{ "id": 1, "by": { "secret": 1, "n": 2 } }])]);
        shape.hide_keys(&|key| key == "secret");
        let text = shape.to_schema().to_string();
        assert!(
            text.contains("\"id\"") && !text.contains("secret"),
            "{text}"
        );
        assert!(text.contains("additionalProperties"), "{text}");
    }

    #[test]
    fn a_large_result_costs_no_more_than_a_part_of_it() {
        let rows: Vec<Value> = (0..200_000).map(|n| json!({ "n": n, "t": "x" })).collect();
        let schema = seen(&[Value::Array(rows)]).to_schema();
        assert_eq!(schema["items"]["required"], json!(["n", "t"]));
    }
}
