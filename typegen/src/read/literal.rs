//! Literal types: `const` and `enum`.

use serde_json::Value;

use super::MAX_MEMBERS;
use crate::print::quoted;
use crate::type_graph::{Field, Object, Tuple, Type};

/// Characters of a string that is printed as a literal type.
const MAX_TEXT: usize = 200;
const MAX_DEPTH: usize = 4;
/// Elements or fields of a literal array or object.
const MAX_PARTS: usize = 24;

/// The literal type of a value; large values get their general type.
pub fn type_of(value: &Value) -> Type {
    nested(value, 0)
}

fn nested(value: &Value, depth: usize) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(value) => Type::Literal(value.to_string()),
        Value::Number(value) => Type::Literal(value.to_string()),
        Value::String(text) if text.len() <= MAX_TEXT => Type::Literal(quoted(text)),
        Value::Array(values) if depth < MAX_DEPTH && values.len() <= MAX_PARTS => {
            Type::Tuple(Tuple {
                items: values
                    .iter()
                    .map(|value| nested(value, depth + 1))
                    .collect(),
                required: values.len(),
                rest: None,
            })
        }
        Value::Object(fields) if depth < MAX_DEPTH && fields.len() <= MAX_PARTS => {
            let fields = fields.iter().map(|(name, value)| Field {
                name: name.clone(),
                optional: false,
                ty: nested(value, depth + 1),
                doc: Default::default(),
            });
            Type::Object(Object {
                fields: fields.collect(),
                closed: true,
                ..Object::default()
            })
        }
        other => widened(other),
    }
}

/// The general type of a value.
fn widened(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Boolean,
        Value::Number(_) => Type::Number,
        Value::String(_) => Type::String,
        Value::Array(_) => Type::Array(Box::new(Type::Unknown)),
        Value::Object(_) => Type::any_object(),
    }
}

/// The union of `values`, restricted to those of the types `names` if there are any. With too many
/// values, the union of their general types.
pub fn one_of(values: &[Value], names: &[&str]) -> Type {
    let fitting = values
        .iter()
        .filter(|value| names.is_empty() || names.iter().any(|name| has_type(value, name)));
    let types: Vec<Type> = if values.len() <= MAX_MEMBERS {
        fitting.map(type_of).collect()
    } else {
        let mut types = Vec::new();
        for ty in fitting.map(widened) {
            if !types.contains(&ty) {
                types.push(ty);
            }
        }
        types
    };
    let both = [true, false].map(|value| Type::Literal(value.to_string()));
    match Type::union(types) {
        Type::Union(types) if types == both => Type::Boolean,
        ty => ty,
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" | "integer" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}
