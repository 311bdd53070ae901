//! Schemas of OpenAPI as JSON Schema, with references kept as `$defs`.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value, json};

use crate::documents::{Documents, Place, ReferenceError};
use crate::operation::Detail;

/// Characters of a description inside a schema.
const MAX_DESCRIPTION: usize = 400;
/// Nested subschemas that are read.
const MAX_NESTED: usize = 120;

/// Whether a schema describes what is sent or what comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Input,
    Output,
}

/// The schema language of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Of OpenAPI 3.0 and Swagger 2.0: `nullable`, booleans as exclusive bounds.
    Old,
    /// JSON Schema 2020-12, since OpenAPI 3.1.
    JsonSchema,
}

/// Translates the schemas of one tool, which share their `$defs`.
pub struct SchemaReader<'a> {
    documents: &'a Documents,
    dialect: Dialect,
    direction: Direction,
    detail: Detail,
    names: HashMap<String, String>,
    queue: VecDeque<(String, Place<'a>, u32)>,
    defs: Map<String, Value>,
    /// The first reference that leads nowhere.
    pub problem: Option<ReferenceError>,
}

/// Keywords with one subschema.
const ONE: [&str; 10] = [
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPS: [&str; 2] = ["patternProperties", "dependentSchemas"];
const KEPT: [&str; 22] = [
    "const",
    "contentEncoding",
    "contentMediaType",
    "dependentRequired",
    "deprecated",
    "enum",
    "format",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "required",
    "type",
    "uniqueItems",
];

impl<'a> SchemaReader<'a> {
    pub fn new(
        documents: &'a Documents,
        dialect: Dialect,
        direction: Direction,
        detail: Detail,
    ) -> Self {
        Self {
            documents,
            dialect,
            direction,
            detail,
            names: HashMap::new(),
            queue: VecDeque::new(),
            defs: Map::new(),
            problem: None,
        }
    }

    /// A schema whose references lead into [`SchemaReader::into_defs`].
    pub fn read(&mut self, place: Place<'a>) -> Value {
        self.schema(place, 0, 0)
    }

    /// Translates everything that was referred to.
    pub fn into_defs(mut self) -> (Map<String, Value>, Option<ReferenceError>) {
        while let Some((name, place, depth)) = self.queue.pop_front() {
            let schema = self.schema(place, depth, 0);
            self.defs.insert(name, schema);
        }
        (self.defs, self.problem)
    }

    fn has_descriptions(&self) -> bool {
        self.detail == Detail::Full
    }

    fn schema(&mut self, place: Place<'a>, depth: u32, nested: usize) -> Value {
        let Value::Object(source) = place.value else {
            return match place.value {
                Value::Bool(_) => place.value.clone(),
                _ => json!({}),
            };
        };
        if nested > MAX_NESTED {
            return json!({});
        }
        let reference = source.get("$ref").and_then(Value::as_str);
        let mut target = Map::new();
        if self.has_descriptions()
            && let Some(text) = place.text("description")
        {
            target.insert("description".to_owned(), shortened(text).into());
        }
        if let Some(reference) = reference {
            if let Some(reference) = self.reference(place.uri, reference, depth) {
                target.insert("$ref".to_owned(), reference.into());
            }
            if self.dialect == Dialect::Old {
                return Value::Object(target);
            }
        }
        for (key, value) in source {
            let key = key.as_str();
            let place = place.at(value);
            if KEPT.contains(&key) {
                target.insert(key.to_owned(), value.clone());
            } else if ONE.contains(&key) {
                target.insert(key.to_owned(), self.schema(place, depth, nested + 1));
            } else if LISTS.contains(&key) {
                let items = value.as_array().into_iter().flatten();
                let items: Vec<Value> = items
                    .map(|item| self.schema(place.at(item), depth, nested + 1))
                    .collect();
                if !items.is_empty() {
                    target.insert(key.to_owned(), items.into());
                }
            } else if MAPS.contains(&key) {
                let entries = value.as_object().into_iter().flatten();
                let entries: Map<String, Value> = entries
                    .map(|(name, item)| {
                        (name.clone(), self.schema(place.at(item), depth, nested + 1))
                    })
                    .collect();
                target.insert(key.to_owned(), entries.into());
            } else if key == "default" && self.has_descriptions() {
                target.insert(key.to_owned(), value.clone());
            }
        }
        self.items(place, &mut target, depth, nested);
        self.properties(place, &mut target, depth, nested);
        bounds(source, &mut target);
        simplify(&mut target);
        match source.get("nullable") == Some(&Value::Bool(true)) {
            true => nullable(target),
            false => Value::Object(target),
        }
    }

    /// `items` is a list in the tuples of old drafts.
    fn items(
        &mut self,
        place: Place<'a>,
        target: &mut Map<String, Value>,
        depth: u32,
        nested: usize,
    ) {
        match place.value.get("items") {
            None => {}
            Some(Value::Array(tuple)) => {
                let tuple: Vec<Value> = tuple
                    .iter()
                    .map(|item| self.schema(place.at(item), depth, nested + 1))
                    .collect();
                target.insert("prefixItems".to_owned(), tuple.into());
            }
            Some(items) => {
                let items = self.schema(place.at(items), depth, nested + 1);
                target.insert("items".to_owned(), items);
            }
        }
    }

    /// Properties that only the other direction has are left out.
    fn properties(
        &mut self,
        place: Place<'a>,
        target: &mut Map<String, Value>,
        depth: u32,
        nested: usize,
    ) {
        let other = match self.direction {
            Direction::Input => "readOnly",
            Direction::Output => "writeOnly",
        };
        let mut properties = Map::new();
        let mut left_out = Vec::new();
        for (name, property) in place.entries("properties") {
            if self.has_flag(property, other, 4) {
                left_out.push(name);
            } else {
                properties.insert(name.to_owned(), self.schema(property, depth, nested + 1));
            }
        }
        if place.value.get("properties").is_some() {
            target.insert("properties".to_owned(), properties.into());
        }
        if let Some(Value::Array(required)) = target.get_mut("required") {
            required.retain(|name| name.as_str().is_some_and(|name| !left_out.contains(&name)));
            if required.is_empty() {
                target.remove("required");
            }
        } else {
            // A flag of old documents, on a property or a parameter.
            target.remove("required");
        }
    }

    /// Whether a flag is set on a schema, behind its references, or on a part of its `allOf`.
    fn has_flag(&self, schema: Place<'a>, flag: &str, left: u32) -> bool {
        if schema.is(flag) {
            return true;
        }
        let Ok(schema) = self.documents.follow(schema) else {
            return false;
        };
        let mut parts = schema.items("allOf");
        schema.is(flag) || (left > 0 && parts.any(|part| self.has_flag(part, flag, left - 1)))
    }

    /// The reference in the tool; `None` if what is behind it is left out.
    fn reference(&mut self, uri: &str, reference: &str, depth: u32) -> Option<String> {
        if let Detail::Depth(most) = self.detail
            && depth >= most
        {
            return None;
        }
        let (key, place) = match self.documents.resolve(uri, reference) {
            Ok(found) => found,
            Err(error) => {
                self.problem.get_or_insert(error);
                return None;
            }
        };
        let name = match self.names.get(&key) {
            Some(name) => name.clone(),
            None => {
                let name = self.free_name(&key);
                self.names.insert(key, name.clone());
                self.queue.push_back((name.clone(), place, depth + 1));
                name
            }
        };
        Some(format!("#/$defs/{name}"))
    }

    /// A name for a definition: the last part of the pointer, or of the file.
    fn free_name(&self, key: &str) -> String {
        let (file, pointer) = key.split_once('#').unwrap_or((key, ""));
        let last = pointer.rsplit('/').next().filter(|name| !name.is_empty());
        let file_name = || {
            let name = file.rsplit('/').next().unwrap_or("schema");
            name.split('.').next().unwrap_or(name)
        };
        let plain: String = last
            .unwrap_or_else(file_name)
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "_-.".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .take(80)
            .collect();
        let is_free = |name: &str| !self.names.values().any(|known| known == name);
        let mut name = plain.clone();
        let mut number = 1;
        while name.is_empty() || !is_free(&name) {
            number += 1;
            name = format!("{plain}_{number}");
        }
        name
    }
}

/// Exclusive bounds that are a flag of the bound beside them.
fn bounds(source: &Map<String, Value>, target: &mut Map<String, Value>) {
    for (flag, bound) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        match source.get(flag) {
            Some(Value::Bool(true)) => {
                if let Some(limit) = target.remove(bound) {
                    target.insert(flag.to_owned(), limit);
                }
            }
            Some(limit @ Value::Number(_)) => {
                target.insert(flag.to_owned(), limit.clone());
            }
            _ => {}
        }
    }
}

/// What other documents write in place of JSON Schema.
fn simplify(target: &mut Map<String, Value>) {
    // Swagger 2.0.
    if target.get("type") == Some(&json!("file")) {
        target.insert("type".to_owned(), json!("string"));
        target.insert("format".to_owned(), json!("binary"));
    }
    // A list that is no list of types, a name that is no type: they would refuse every value.
    const TYPES: [&str; 7] = [
        "string", "number", "integer", "boolean", "array", "object", "null",
    ];
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let is_valid = match target.get("type") {
        None => true,
        Some(Value::Array(types)) => !types.is_empty() && types.iter().all(is_type),
        Some(value) => is_type(value),
    };
    if !is_valid {
        target.remove("type");
    }
    for keyword in ["enum", "required"] {
        if target.get(keyword).is_some_and(|value| !value.is_array()) {
            target.remove(keyword);
        }
    }
    let counts = [
        "maxItems",
        "minItems",
        "maxLength",
        "minLength",
        "maxProperties",
        "minProperties",
    ];
    for keyword in counts {
        if target
            .get(keyword)
            .is_some_and(|value| value.as_u64().is_none())
        {
            target.remove(keyword);
        }
    }
    for keyword in ["maximum", "minimum", "multipleOf"] {
        if target.get(keyword).is_some_and(|value| !value.is_number()) {
            target.remove(keyword);
        }
    }
    if target
        .get("pattern")
        .is_some_and(|value| !value.is_string())
    {
        target.remove("pattern");
    }
}

/// The schema, or `null`.
fn nullable(mut schema: Map<String, Value>) -> Value {
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match schema.get("type").cloned() {
        Some(Value::String(name)) => {
            schema.insert("type".to_owned(), json!([name, "null"]));
            Value::Object(schema)
        }
        Some(_) => Value::Object(schema),
        None if schema.is_empty() => json!({}),
        None => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

/// A text of at most [`MAX_DESCRIPTION`] characters.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dialect: Dialect, direction: Direction, detail: Detail, root: &Value) -> Value {
        let documents = Documents::new("file:///a.json".parse().unwrap(), root.clone());
        let mut reader = SchemaReader::new(&documents, dialect, direction, detail);
        let place = documents.root();
        let mut schema = reader.read(place.get("schema").unwrap());
        let (defs, problem) = reader.into_defs();
        if !defs.is_empty() {
            schema["$defs"] = defs.into();
        }
        if let Some(problem) = problem {
            schema["problem"] = problem.to_string().into();
        }
        schema
    }

    fn old(schema: Value) -> Value {
        let root = json!({ "schema": schema });
        read(Dialect::Old, Direction::Input, Detail::Full, &root)
    }

    #[test]
    fn a_recursive_schema_keeps_its_reference() {
        let root = json!({
            "schema": { "$ref": "#/components/schemas/Tree" },
            "components": { "schemas": { "Tree": {
                "type": "object",
                "properties": { "children": { "type": "array", "items": { "$ref": "#/components/schemas/Tree" } } }
            } } }
        });
        let schema = read(Dialect::Old, Direction::Input, Detail::Full, &root);
        assert_eq!(schema["$ref"], "#/$defs/Tree");
        let items = &schema["$defs"]["Tree"]["properties"]["children"]["items"];
        assert_eq!(items, &json!({ "$ref": "#/$defs/Tree" }));
        let flat = read(Dialect::Old, Direction::Input, Detail::Depth(0), &root);
        assert_eq!(flat, json!({}), "without references");
    }

    #[test]
    fn what_3_0_writes_otherwise_becomes_json_schema() {
        assert_eq!(
            old(
                json!({ "type": "string", "nullable": true, "enum": ["a"], "example": "a", "x-a": 1 })
            ),
            json!({ "type": ["string", "null"], "enum": ["a", null] })
        );
        assert_eq!(
            old(json!({ "type": "number", "minimum": 1, "exclusiveMinimum": true })),
            json!({ "type": "number", "exclusiveMinimum": 1 })
        );
        assert_eq!(
            old(json!({ "nullable": true, "allOf": [{ "type": "object" }] })),
            json!({ "anyOf": [{ "allOf": [{ "type": "object" }] }, { "type": "null" }] })
        );
        assert_eq!(
            old(json!({ "type": "file" })),
            json!({ "type": "string", "format": "binary" })
        );
        assert_eq!(
            old(json!({ "type": "String", "required": true })),
            json!({})
        );
    }

    #[test]
    fn properties_of_the_other_direction_are_left_out() {
        let root = json!({ "schema": {
            "type": "object",
            "required": ["id", "name"],
            "properties": {
                "id": { "type": "integer", "readOnly": true },
                "name": { "type": "string" },
                "password": { "type": "string", "writeOnly": true }
            }
        } });
        let names = |direction| {
            let schema = read(Dialect::Old, direction, Detail::Full, &root);
            let names: Vec<String> = schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect();
            (names.join(" "), schema["required"].clone())
        };
        assert_eq!(
            names(Direction::Input),
            ("name password".to_owned(), json!(["name"]))
        );
        assert_eq!(
            names(Direction::Output),
            ("id name".to_owned(), json!(["id", "name"]))
        );
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_reported() {
        let root = json!({ "schema": { "items": { "$ref": "#/none" } } });
        let schema = read(Dialect::Old, Direction::Input, Detail::Full, &root);
        assert_eq!(schema["problem"], "the reference `#/none` leads nowhere");
    }
}
