//! Types that are one of several types or values.

use serde_json::{Value, json};

use super::typed::{ObjectShape, Typed};

/// One of these values.
pub fn one_of(values: Vec<Value>) -> Value {
    let kind = |value: &Value| match value {
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "boolean",
        _ => "",
    };
    let kinds: Vec<&str> = values.iter().map(kind).collect();
    let first = kinds.first().copied().unwrap_or_default();
    let mut schema = match values.as_slice() {
        [single] => json!({ "const": single }),
        _ => json!({ "enum": values }),
    };
    if !first.is_empty() && kinds.iter().all(|kind| *kind == first) {
        schema["type"] = first.into();
    }
    schema
}

/// The values that a schema lists, if it lists them.
pub fn listed_values(schema: &Value) -> Option<Vec<Value>> {
    if schema.get("description").is_some() {
        return None;
    }
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// The type of what is one of several types.
pub fn union_of(types: Vec<Typed>) -> Typed {
    let is_optional = types.iter().any(|typed| typed.is_optional);
    let (mut values, mut schemas): (Vec<Value>, Vec<Value>) = Default::default();
    let mut has_null = false;
    for typed in types {
        if typed.is_undefined_only() {
            continue;
        }
        if typed.schema == json!({ "type": "null" }) {
            has_null = true;
        } else if typed.schema == json!({}) {
            // Anything, whatever else there is.
            return Typed {
                schema: typed.schema,
                is_optional,
            };
        } else if let Some(listed) = listed_values(&typed.schema) {
            for value in listed {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        } else if let Some(any) = typed.schema.get("anyOf").and_then(Value::as_array) {
            schemas.extend(any.iter().cloned());
        } else if !schemas.contains(&typed.schema) {
            schemas.push(typed.schema);
        }
    }
    let both = [Value::Bool(true), Value::Bool(false)];
    if both.iter().all(|bool| values.contains(bool)) {
        values.retain(|value| !value.is_boolean());
        schemas.push(json!({ "type": "boolean" }));
    }
    if !values.is_empty() {
        schemas.insert(0, one_of(values));
    }
    let schema = match (schemas.len(), has_null) {
        (0, true) => json!({ "type": "null" }),
        (0, false) => return Typed::undefined(),
        (1, false) => schemas.swap_remove(0),
        (1, true) => nullable(schemas.swap_remove(0)),
        _ => {
            if has_null {
                schemas.push(json!({ "type": "null" }));
            }
            json!({ "anyOf": schemas })
        }
    };
    Typed {
        schema,
        is_optional,
    }
}

fn nullable(mut schema: Value) -> Value {
    let is_simple = schema["type"].is_string() && listed_values(&schema).is_none();
    if !is_simple {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    }
    let kind = schema["type"].take();
    schema["type"] = json!([kind, "null"]);
    schema
}

/// The type of a constant that is declared `as const`.
pub fn type_of_value(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let items: Vec<Value> = items.iter().map(type_of_value).collect();
            let count = items.len();
            json!({ "type": "array", "prefixItems": items, "items": false, "minItems": count, "maxItems": count })
        }
        Value::Object(fields) => {
            let mut shape = ObjectShape::default();
            for (name, value) in fields {
                shape.set(name, type_of_value(value), true);
            }
            shape.into_schema()
        }
        Value::Null => json!({ "type": "null" }),
        value => one_of(vec![value.clone()]),
    }
}
