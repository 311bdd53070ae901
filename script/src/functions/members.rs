//! Members of object types, and the types that are made of them: `keyof`, `T[K]`, mapped types.

use serde_json::{Value, json};
use swc_core::common::{BytePos, Spanned};
use swc_core::ecma::ast::{
    Expr, Lit, TruePlusMinus, TsFnParam, TsMappedType, TsType, TsTypeElement,
};

use super::constraints::described;
use super::doc::Doc;
use super::typed::{ObjectShape, Reading, Typed, Unsupported};
use super::types::{TypeArguments, TypeReader};
use super::unions::{listed_values, one_of, union_of};

impl TypeReader<'_> {
    pub(super) fn members(
        &mut self,
        members: &[TsTypeElement],
        arguments: &TypeArguments,
    ) -> Result<ObjectShape, Unsupported> {
        let mut shape = ObjectShape::default();
        for member in members {
            let at = member.span().lo;
            match member {
                TsTypeElement::TsPropertySignature(property) => {
                    let name = key_name(&property.key, property.computed).ok_or_else(|| {
                        Unsupported::new(at, "the name of a property is computed")
                    })?;
                    let typed = match &property.type_ann {
                        Some(annotation) => self.read(&annotation.type_ann, arguments)?,
                        None => Typed::of(json!({})),
                    };
                    if typed.is_undefined_only() {
                        continue;
                    }
                    let doc = Doc::before(self.comments, at);
                    let schema = described(typed.schema, &doc, None);
                    shape.set(&name, schema, !property.optional && !typed.is_optional);
                }
                TsTypeElement::TsIndexSignature(index) => {
                    let key = match index.params.first() {
                        Some(TsFnParam::Ident(key)) => key.type_ann.as_ref(),
                        _ => None,
                    };
                    if let Some(key) = key {
                        // A key that is no text is refused where it is written.
                        self.read(&key.type_ann, arguments)?;
                    }
                    shape.further = Some(match &index.type_ann {
                        Some(value) => self.read(&value.type_ann, arguments)?.schema,
                        None => json!({}),
                    });
                }
                TsTypeElement::TsMethodSignature(_) => {
                    let message = "a method is no JSON: take or return data";
                    return Err(Unsupported::new(at, message));
                }
                TsTypeElement::TsCallSignatureDecl(_)
                | TsTypeElement::TsConstructSignatureDecl(_) => {
                    let message = "a function is no JSON: take or return data";
                    return Err(Unsupported::new(at, message));
                }
                TsTypeElement::TsGetterSignature(_) | TsTypeElement::TsSetterSignature(_) => {
                    let message = "an accessor is no JSON: declare a property";
                    return Err(Unsupported::new(at, message));
                }
            }
        }
        Ok(shape)
    }

    pub(super) fn key_of(&mut self, ty: &TsType, arguments: &TypeArguments) -> Reading {
        let typed = self.read(ty, arguments)?;
        let shape = self.shape_of(&typed, ty.span().lo)?;
        if shape.further.is_some() {
            return Ok(Typed::of(json!({ "type": "string" })));
        }
        let names = shape.properties.keys();
        Ok(Typed::of(one_of(
            names.map(|name| name.as_str().into()).collect(),
        )))
    }

    /// `T[K]`
    pub(super) fn element_of(&self, object: &Typed, index: &Typed, at: BytePos) -> Reading {
        let target = self.target(&object.schema);
        if target["type"] == "array" {
            let items = target["prefixItems"].as_array().into_iter().flatten();
            let items: Vec<Typed> = items.cloned().map(Typed::of).collect();
            return Ok(match items.is_empty() {
                true => Typed::of(target.get("items").cloned().unwrap_or(json!({}))),
                false => union_of(items),
            });
        }
        let shape = self.shape_of(object, at)?;
        let Some(names) = listed_values(&index.schema) else {
            return match shape.further {
                Some(further) => Ok(Typed::of(further)),
                None => Err(Unsupported::new(
                    at,
                    "the name of the property is not known",
                )),
            };
        };
        let mut types = Vec::new();
        for name in names.iter().filter_map(Value::as_str) {
            let Some(schema) = shape.properties.get(name) else {
                let message = format!("the type has no property `{name}`");
                return Err(Unsupported::new(at, message));
            };
            types.push(Typed {
                schema: schema.clone(),
                is_optional: !shape.required.iter().any(|known| known == name),
            });
        }
        Ok(union_of(types))
    }

    /// `{ [K in Keys]: T }`
    pub(super) fn mapped(&mut self, mapped: &TsMappedType, arguments: &TypeArguments) -> Reading {
        let at = mapped.span.lo;
        if mapped.name_type.is_some() {
            let message = "`as` in a mapped type is not understood: write the properties";
            return Err(Unsupported::new(at, message));
        }
        let Some(keys) = &mapped.type_param.constraint else {
            return Err(Unsupported::new(at, "a mapped type needs its keys"));
        };
        let keys = self.read(keys, arguments)?;
        let value = |reader: &mut Self, key: Value| {
            let mut bound = arguments.clone();
            bound.insert(mapped.type_param.name.sym.clone(), Typed::of(key));
            match &mapped.type_ann {
                Some(ty) => reader.read(ty, &bound),
                None => Ok(Typed::of(json!({}))),
            }
        };
        let mut shape = ObjectShape::default();
        let Some(names) = listed_values(&keys.schema) else {
            shape.further = Some(value(self, keys.schema)?.schema);
            return Ok(Typed::of(shape.into_schema()));
        };
        for name in names {
            let Some(text) = name.as_str().map(str::to_owned) else {
                return Err(Unsupported::new(at, "the keys of an object are texts"));
            };
            let typed = value(self, one_of(vec![name]))?;
            let is_required = match mapped.optional {
                Some(TruePlusMinus::Minus) => true,
                Some(_) => false,
                None => !typed.is_optional,
            };
            shape.set(&text, typed.schema, is_required);
        }
        Ok(Typed::of(shape.into_schema()))
    }
}

/// The name of a property; `None` if it is computed.
fn key_name(key: &Expr, is_computed: bool) -> Option<String> {
    match key {
        Expr::Ident(name) if !is_computed => Some(name.sym.to_string()),
        Expr::Lit(Lit::Str(name)) => Some(name.value.to_string_lossy().into_owned()),
        Expr::Lit(Lit::Num(name)) => Some(super::declarations::number(name.value).to_string()),
        _ => None,
    }
}
