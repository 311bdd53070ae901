//! The types that TypeScript brings.

use serde_json::{Value, json};
use swc_core::atoms::Atom;
use swc_core::common::BytePos;
use swc_core::ecma::ast::TsTypeParamInstantiation;

use super::typed::{ObjectShape, Reading, Typed, Unsupported};
use super::types::{TypeArguments, TypeReader};
use super::unions::{listed_values, one_of};

impl TypeReader<'_> {
    pub(super) fn built_in(
        &mut self,
        name: &Atom,
        given: Option<&TsTypeParamInstantiation>,
        arguments: &TypeArguments,
        at: BytePos,
    ) -> Reading {
        let given = self.arguments(given, arguments)?;
        let argument = |n: usize| {
            given
                .get(n)
                .cloned()
                .ok_or_else(|| Unsupported::new(at, format!("`{name}` needs its type arguments")))
        };
        match name.as_str() {
            "Array" | "ReadonlyArray" => {
                let item = argument(0)?;
                Ok(Typed::of(json!({ "type": "array", "items": item.schema })))
            }
            "Promise" | "PromiseLike" | "Awaited" | "Readonly" => argument(0),
            "NonNullable" => {
                let mut typed = argument(0)?;
                typed.is_optional = false;
                typed.schema = without_null(typed.schema);
                Ok(typed)
            }
            "Record" => {
                let (keys, values) = (argument(0)?, argument(1)?);
                let times = listed_values(&keys.schema).map_or(1, |names| names.len());
                self.made(&values.schema, times, at)?;
                record(keys, values)
            }
            "Partial" => {
                let mut shape = self.shape_of(&argument(0)?, at)?;
                shape.required.clear();
                Ok(Typed::of(shape.into_schema()))
            }
            "Required" => {
                let mut shape = self.shape_of(&argument(0)?, at)?;
                shape.required = shape.properties.keys().cloned().collect();
                Ok(Typed::of(shape.into_schema()))
            }
            "Pick" | "Omit" => {
                let shape = self.shape_of(&argument(0)?, at)?;
                let names = listed_values(&argument(1)?.schema).ok_or_else(|| {
                    Unsupported::new(at, format!("`{name}` needs the names of properties"))
                })?;
                let is_named = |key: &str| names.iter().any(|name| name == key);
                let picks = name == "Pick";
                Ok(Typed::of(
                    filtered(shape, |key| is_named(key) == picks).into_schema(),
                ))
            }
            "Exclude" | "Extract" => {
                let (Some(values), Some(others)) = (
                    listed_values(&argument(0)?.schema),
                    listed_values(&argument(1)?.schema),
                ) else {
                    let message = format!("`{name}` is understood between literals");
                    return Err(Unsupported::new(at, message));
                };
                let extracts = name == "Extract";
                let kept = values
                    .into_iter()
                    .filter(|it| others.contains(it) == extracts);
                Ok(Typed::of(one_of(kept.collect())))
            }
            "String" | "Number" | "Boolean" => {
                let message = format!("write `{}` in place of `{name}`", name.to_lowercase());
                Err(Unsupported::new(at, message))
            }
            "Object" => Ok(Typed::of(json!({ "type": "object" }))),
            "Date" => {
                let message = "a `Date` is no JSON: use a string, such as `2026-01-31T12:00:00Z`";
                Err(Unsupported::new(at, message))
            }
            "Map" | "WeakMap" => {
                let message = format!("a `{name}` is no JSON: use `Record<string, …>`");
                Err(Unsupported::new(at, message))
            }
            "Set" | "WeakSet" => {
                let message = format!("a `{name}` is no JSON: use an array");
                Err(Unsupported::new(at, message))
            }
            "Uint8Array" | "ArrayBuffer" | "Buffer" | "Blob" => {
                let message = format!("a `{name}` is no JSON: use a string with base64");
                Err(Unsupported::new(at, message))
            }
            "Function" => {
                let message = "a function is no JSON: take or return data";
                Err(Unsupported::new(at, message))
            }
            _ => {
                let message = format!(
                    "the type `{name}` is not declared in this file and is not one that pml knows: declare it, or use `unknown`"
                );
                Err(Unsupported::new(at, message))
            }
        }
    }
}

fn record(key: Typed, value: Typed) -> Reading {
    let mut shape = ObjectShape::default();
    match listed_values(&key.schema) {
        Some(names) => {
            for name in names {
                let name = match name {
                    Value::String(name) => name,
                    other => other.to_string(),
                };
                shape.set(&name, value.schema.clone(), !value.is_optional);
            }
        }
        None => shape.further = Some(value.schema),
    }
    Ok(Typed::of(shape.into_schema()))
}

fn filtered(shape: ObjectShape, keeps: impl Fn(&str) -> bool) -> ObjectShape {
    let mut kept = ObjectShape {
        further: shape.further.clone(),
        ..ObjectShape::default()
    };
    for (name, schema) in shape.properties {
        if keeps(&name) {
            let is_required = shape.required.contains(&name);
            kept.set(&name, schema, is_required);
        }
    }
    kept
}

fn without_null(mut schema: Value) -> Value {
    let null = json!({ "type": "null" });
    if let Some(types) = schema["type"].as_array() {
        let mut others = types.iter().filter(|kind| *kind != "null");
        if let (Some(only), None) = (others.next().cloned(), others.next()) {
            schema["type"] = only;
        }
        return schema;
    }
    let Some(any) = schema.get_mut("anyOf").and_then(Value::as_array_mut) else {
        return schema;
    };
    any.retain(|one| *one != null);
    match any.len() {
        1 => any.swap_remove(0),
        _ => schema,
    }
}
