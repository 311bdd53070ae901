//! TypeScript types as JSON Schema.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use swc_core::atoms::Atom;
use swc_core::common::{BytePos, Spanned};
use swc_core::ecma::ast::{
    TsEntityName, TsTupleType, TsType, TsTypeOperatorOp, TsTypeQueryExpr, TsUnionOrIntersectionType,
};

use super::declarations::Declarations;
use super::doc::DocComments;
use super::literals::{keyword_type, literal_type};
use super::typed::{ObjectShape, Reading, Typed, Unsupported};
use super::unions::{type_of_value, union_of};

/// Types that are read for one function. Generic types can name each other without end.
const MAX_TYPES: usize = 5_000;
/// Types inside each other.
const MAX_DEPTH: usize = 100;
/// Values in all schemas that are made for one function. A type that is written where it is used doubles
/// with each type that names it twice.
const MAX_VALUES: usize = 200_000;
/// Values of a schema inside each other: it is handled on ordinary stacks.
const MAX_VALUE_DEPTH: usize = 120;

/// The arguments of a generic type, by the names of its parameters.
pub type TypeArguments = HashMap<Atom, Typed>;

/// Reads the types of one function.
pub struct TypeReader<'a> {
    pub(super) declarations: &'a Declarations<'a>,
    pub(super) comments: &'a DocComments<'a>,
    /// Named types, as `$defs` has them. `None` while one is being read.
    pub(super) definitions: Map<String, Value>,
    /// The key of each named type with its arguments.
    pub(super) keys: HashMap<(Atom, String), Definition>,
    read: usize,
    depth: usize,
    /// The values that were made.
    made: usize,
}

/// A named type that is read, or being read.
#[derive(Clone)]
pub struct Definition {
    pub key: String,
    /// `None` while it is being read.
    pub typed: Option<Typed>,
    /// Whether it names itself.
    pub is_recursive: bool,
}

impl<'a> TypeReader<'a> {
    pub fn new(declarations: &'a Declarations<'a>, comments: &'a DocComments<'a>) -> Self {
        Self {
            declarations,
            comments,
            definitions: Map::new(),
            keys: HashMap::new(),
            read: 0,
            depth: 0,
            made: 0,
        }
    }

    /// The schema with the named types that it refers to.
    pub fn finish(self, mut schema: Value) -> Value {
        if !self.definitions.is_empty() && schema.is_object() {
            schema["$defs"] = self.definitions.into();
        }
        schema
    }

    /// The schema of a type.
    pub fn read(&mut self, ty: &TsType, arguments: &TypeArguments) -> Reading {
        self.read += 1;
        self.depth += 1;
        if self.read > MAX_TYPES || self.depth > MAX_DEPTH {
            let message = "its types are too large: use `unknown` for a part of them";
            return Err(Unsupported::new(ty.span_lo(), message));
        }
        let read = self.read_type(ty, arguments);
        self.depth -= 1;
        if let Ok(typed) = &read {
            self.made(&typed.schema, 1, ty.span_lo())?;
        }
        read
    }

    /// Counts a schema that was made, or is about to be made `times` times.
    pub(super) fn made(
        &mut self,
        schema: &Value,
        times: usize,
        at: BytePos,
    ) -> Result<(), Unsupported> {
        let left = MAX_VALUES.saturating_sub(self.made);
        let values = count_values(schema, left, MAX_VALUE_DEPTH);
        match values.and_then(|values| values.checked_mul(times)) {
            Some(values) if values <= left => {
                self.made += values;
                Ok(())
            }
            _ => {
                let message = "its types or values are too large or nested too deep: use `unknown` for a part of them";
                Err(Unsupported::new(at, message))
            }
        }
    }

    fn read_type(&mut self, ty: &TsType, arguments: &TypeArguments) -> Reading {
        let at = ty.span_lo();
        let no = |what: &str| Err(Unsupported::new(at, what));
        match ty {
            TsType::TsKeywordType(keyword) => keyword_type(keyword.kind, at),
            TsType::TsParenthesizedType(inner) => self.read(&inner.type_ann, arguments),
            TsType::TsOptionalType(inner) => self.read(&inner.type_ann, arguments),
            TsType::TsLitType(literal) => literal_type(&literal.lit, at),
            TsType::TsArrayType(array) => self.array(&array.elem_type, arguments),
            TsType::TsTupleType(tuple) => self.tuple(tuple, arguments),
            TsType::TsTypeLit(object) => {
                let shape = self.members(&object.members, arguments)?;
                Ok(Typed::of(shape.into_schema()))
            }
            TsType::TsTypeRef(named) => self.named(named, arguments),
            TsType::TsUnionOrIntersectionType(TsUnionOrIntersectionType::TsUnionType(union)) => {
                let types = union.types.iter();
                let types: Vec<Typed> = types
                    .map(|ty| self.read(ty, arguments))
                    .collect::<Result<_, _>>()?;
                Ok(union_of(types))
            }
            TsType::TsUnionOrIntersectionType(TsUnionOrIntersectionType::TsIntersectionType(
                both,
            )) => self.intersection(&both.types, arguments, at),
            TsType::TsTypeOperator(operator) => match operator.op {
                TsTypeOperatorOp::ReadOnly => self.read(&operator.type_ann, arguments),
                TsTypeOperatorOp::KeyOf => self.key_of(&operator.type_ann, arguments),
                TsTypeOperatorOp::Unique => no("a `unique symbol` is no JSON: use a string"),
            },
            TsType::TsIndexedAccessType(access) => {
                let object = self.read(&access.obj_type, arguments)?;
                let index = self.read(&access.index_type, arguments)?;
                self.element_of(&object, &index, at)
            }
            TsType::TsMappedType(mapped) => self.mapped(mapped, arguments),
            TsType::TsTypeQuery(query) => match &query.expr_name {
                TsTypeQueryExpr::TsEntityName(TsEntityName::Ident(name)) => {
                    match self.declarations.constant(&name.sym) {
                        Some(value) => Ok(Typed::of(type_of_value(&value))),
                        None => no(
                            "`typeof` is understood for a constant that ends with `as const`: name its type",
                        ),
                    }
                }
                _ => no("`typeof` is understood for a constant of this file: name the type"),
            },
            TsType::TsFnOrConstructorType(_) => no("a function is no JSON: take or return data"),
            TsType::TsConditionalType(_) | TsType::TsInferType(_) => {
                no("a conditional type is not understood: write the type that it becomes")
            }
            TsType::TsThisType(_) => no("the type `this` is not understood: write its name"),
            TsType::TsTypePredicate(_) => no("a type predicate is no JSON: return `boolean`"),
            TsType::TsImportType(_) => {
                no("the type of another file is not read: declare it in this file")
            }
            TsType::TsRestType(_) => no("`...` stands at the end of a tuple only"),
        }
    }

    pub(super) fn array(&mut self, item: &TsType, arguments: &TypeArguments) -> Reading {
        let item = self.read(item, arguments)?;
        Ok(Typed::of(json!({ "type": "array", "items": item.schema })))
    }

    fn tuple(&mut self, tuple: &TsTupleType, arguments: &TypeArguments) -> Reading {
        let (mut items, mut least, mut rest) = (Vec::new(), 0, Value::Bool(false));
        for element in &tuple.elem_types {
            match &*element.ty {
                TsType::TsRestType(more) => {
                    let more = self.read(&more.type_ann, arguments)?;
                    rest = more.schema.get("items").cloned().unwrap_or(json!({}));
                }
                TsType::TsOptionalType(item) => {
                    items.push(self.read(&item.type_ann, arguments)?.schema);
                }
                item => {
                    let item = self.read(item, arguments)?;
                    items.push(item.schema);
                    if !item.is_optional {
                        least = items.len();
                    }
                }
            }
        }
        let mut schema = json!({ "type": "array", "prefixItems": items, "items": rest });
        schema["minItems"] = least.into();
        if rest_is_closed(&schema) {
            schema["maxItems"] = items.len().into();
        }
        Ok(Typed::of(schema))
    }

    /// The properties of an object type.
    pub(super) fn shape_of(&self, typed: &Typed, at: BytePos) -> Result<ObjectShape, Unsupported> {
        let schema = self.target(&typed.schema);
        ObjectShape::of(schema).ok_or_else(|| {
            let message = "an object type is needed here, and one that does not contain itself";
            Unsupported::new(at, message)
        })
    }

    /// The schema behind a reference.
    pub(super) fn target<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let key = schema["$ref"].as_str();
        let key = key.and_then(|key| key.strip_prefix("#/$defs/"));
        key.and_then(|key| self.definitions.get(key))
            .unwrap_or(schema)
    }

    fn intersection(
        &mut self,
        types: &[Box<TsType>],
        arguments: &TypeArguments,
        at: BytePos,
    ) -> Reading {
        let mut shape = ObjectShape::default();
        let mut plain = None;
        for ty in types {
            let typed = self.read(ty, arguments)?;
            match ObjectShape::of(self.target(&typed.schema)) {
                Some(other) => shape.extend(other),
                // `string & { __brand: "Id" }` is a string.
                None if plain.is_none() && is_plain(&typed.schema) => plain = Some(typed),
                None => {
                    let message = "`&` is understood between object types";
                    return Err(Unsupported::new(at, message));
                }
            }
        }
        Ok(plain.unwrap_or_else(|| Typed::of(shape.into_schema())))
    }
}

fn rest_is_closed(schema: &Value) -> bool {
    schema["items"] == false
}

fn is_plain(schema: &Value) -> bool {
    matches!(
        schema["type"].as_str(),
        Some("string" | "number" | "integer" | "boolean")
    )
}

/// How many values a schema consists of; `None` if there are more than `most`, or deeper ones than `depth`.
fn count_values(value: &Value, most: usize, depth: usize) -> Option<usize> {
    let depth = depth.checked_sub(1)?;
    let mut count = 1;
    let mut add = |inner: &Value| {
        count += count_values(inner, most.checked_sub(count)?, depth)?;
        (count <= most).then_some(())
    };
    match value {
        Value::Array(items) => items.iter().try_for_each(&mut add)?,
        Value::Object(fields) => fields.values().try_for_each(&mut add)?,
        _ => {}
    }
    Some(count)
}
