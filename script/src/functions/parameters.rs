//! The parameters of a function as the properties of one object: arguments are given by name.

use serde_json::{Value, json};
use swc_core::common::{BytePos, Spanned};
use swc_core::ecma::ast::{ObjectPatProp, Pat, PropName, TsTypeAnn};

use super::constraints::described;
use super::declarations::literal;
use super::doc::Doc;
use super::typed::{ObjectShape, Typed, Unsupported};
use super::types::{TypeArguments, TypeReader};

/// How the parameters of a function get the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passing {
    /// One after the other, by these names. The last one may be a rest parameter.
    ByName {
        /// The names, in the order of the parameters.
        names: Vec<String>,
        /// Whether the last one takes a list.
        has_rest: bool,
    },
    /// The one parameter takes all of them as an object.
    AsObject,
}

impl Passing {
    /// The arguments of a call in JavaScript, from the object in the variable `given`.
    pub fn in_script(&self, given: &str) -> String {
        let Self::ByName { names, has_rest } = self else {
            return given.to_owned();
        };
        let last = names.len().saturating_sub(1);
        let passed = names.iter().enumerate().map(|(n, name)| {
            let value = format!("{given}[{}]", Value::from(name.as_str()));
            match *has_rest && n == last {
                true => format!("...({value} ?? [])"),
                false => value,
            }
        });
        passed.collect::<Vec<_>>().join(", ")
    }
}

/// The schema of a function's parameters.
pub fn read_parameters(
    reader: &mut TypeReader<'_>,
    parameters: &[&Pat],
    doc: &Doc,
) -> Result<(Value, Passing), Unsupported> {
    if let [single] = parameters
        && let Some(annotation) = destructured(single)
    {
        return Ok((
            object_parameter(reader, single, annotation, doc)?,
            Passing::AsObject,
        ));
    }
    let mut shape = ObjectShape::default();
    let (mut names, mut has_rest) = (Vec::new(), false);
    for parameter in parameters {
        let read = parameter_of(reader, parameter)?;
        let schema = described(
            read.typed.schema,
            &Doc::default(),
            doc.parameter(&read.name),
        );
        let schema = match read.default {
            Some(default) => with_default(schema, default),
            None => schema,
        };
        shape.set(
            &read.name,
            schema,
            read.is_required && !read.typed.is_optional,
        );
        names.push(read.name);
        has_rest |= read.is_rest;
    }
    Ok((shape.into_schema(), Passing::ByName { names, has_rest }))
}

struct Parameter {
    name: String,
    typed: Typed,
    is_required: bool,
    default: Option<Value>,
    is_rest: bool,
}

fn parameter_of(reader: &mut TypeReader<'_>, pattern: &Pat) -> Result<Parameter, Unsupported> {
    let unnamed = |at: BytePos| {
        let message = "a parameter needs a name: a pattern such as `{ a, b }` can only be the one parameter of a function";
        Unsupported::new(at, message)
    };
    match pattern {
        Pat::Ident(name) => Ok(Parameter {
            name: name.id.sym.to_string(),
            typed: annotated(reader, name.type_ann.as_deref())?,
            is_required: !name.id.optional,
            default: None,
            is_rest: false,
        }),
        Pat::Assign(assigned) => {
            let Pat::Ident(name) = &*assigned.left else {
                return Err(unnamed(assigned.span.lo));
            };
            let default = literal(&assigned.right);
            let typed = match (&name.type_ann, &default) {
                (None, Some(value)) => Typed::of(type_of_default(value)),
                (annotation, _) => annotated(reader, annotation.as_deref())?,
            };
            Ok(Parameter {
                name: name.id.sym.to_string(),
                typed,
                is_required: false,
                default,
                is_rest: false,
            })
        }
        Pat::Rest(rest) => {
            let Pat::Ident(name) = &*rest.arg else {
                return Err(unnamed(rest.span().lo));
            };
            let typed = match &rest.type_ann {
                Some(annotation) => reader.read(&annotation.type_ann, &TypeArguments::new())?,
                None => Typed::of(json!({ "type": "array" })),
            };
            Ok(Parameter {
                name: name.id.sym.to_string(),
                typed,
                is_required: false,
                default: None,
                is_rest: true,
            })
        }
        other => Err(unnamed(other.span().lo)),
    }
}

/// The type of a parameter; without an annotation, anything.
fn annotated(
    reader: &mut TypeReader<'_>,
    annotation: Option<&TsTypeAnn>,
) -> Result<Typed, Unsupported> {
    match annotation {
        Some(annotation) => reader.read(&annotation.type_ann, &TypeArguments::new()),
        None => Ok(Typed::of(json!({}))),
    }
}

/// What TypeScript infers from a default value.
fn type_of_default(value: &Value) -> Value {
    match value {
        Value::String(_) => json!({ "type": "string" }),
        Value::Number(_) => json!({ "type": "number" }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Array(_) => json!({ "type": "array" }),
        Value::Object(_) => json!({ "type": "object" }),
        Value::Null => json!({}),
    }
}

fn with_default(mut schema: Value, default: Value) -> Value {
    if schema.is_object() {
        schema["default"] = default;
    }
    schema
}

/// The type of a parameter that is a pattern of an object; `None` for others.
fn destructured(pattern: &Pat) -> Option<Option<&TsTypeAnn>> {
    match pattern {
        Pat::Object(object) => Some(object.type_ann.as_deref()),
        // `({ a }: T = {})`
        Pat::Assign(assigned) => destructured(&assigned.left),
        _ => None,
    }
}

/// The schema of the one parameter `{ a, b = 1 }: T`.
fn object_parameter(
    reader: &mut TypeReader<'_>,
    pattern: &Pat,
    annotation: Option<&TsTypeAnn>,
    doc: &Doc,
) -> Result<Value, Unsupported> {
    let Some(annotation) = annotation else {
        let message = "the parameter `{ … }` needs a type: write `{ … }: { name: string }`";
        return Err(Unsupported::new(pattern.span().lo, message));
    };
    let at = annotation.span.lo;
    let typed = reader.read(&annotation.type_ann, &TypeArguments::new())?;
    let mut shape = reader.shape_of(&typed, at)?;
    shape.description = None;
    for (name, default) in defaults(pattern) {
        if let Some(schema) = shape.properties.get_mut(&name) {
            *schema = with_default(schema.take(), default);
        }
        shape.required.retain(|known| *known != name);
    }
    for (name, schema) in &mut shape.properties {
        if schema.get("description").is_none() {
            *schema = described(schema.take(), &Doc::default(), doc.parameter(name));
        }
    }
    Ok(shape.into_schema())
}

/// The default values in a pattern of an object.
fn defaults(pattern: &Pat) -> Vec<(String, Value)> {
    let object = match pattern {
        Pat::Object(object) => object,
        Pat::Assign(assigned) => return defaults(&assigned.left),
        _ => return Vec::new(),
    };
    let of = |property: &ObjectPatProp| match property {
        ObjectPatProp::Assign(property) => {
            let value = literal(property.value.as_deref()?)?;
            Some((property.key.id.sym.to_string(), value))
        }
        ObjectPatProp::KeyValue(property) => {
            let Pat::Assign(assigned) = &*property.value else {
                return None;
            };
            let name = match &property.key {
                PropName::Ident(name) => name.sym.to_string(),
                PropName::Str(name) => name.value.to_string_lossy().into_owned(),
                _ => return None,
            };
            Some((name, literal(&assigned.right)?))
        }
        ObjectPatProp::Rest(_) => None,
    };
    object.props.iter().filter_map(of).collect()
}
