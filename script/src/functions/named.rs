//! Types that have a name: those that the file declares, and members of its enums.

use serde_json::json;
use swc_core::atoms::Atom;
use swc_core::common::BytePos;
use swc_core::ecma::ast::{
    Expr, TsEntityName, TsInterfaceDecl, TsTypeParamDecl, TsTypeParamInstantiation, TsTypeRef,
};

use super::constraints::described;
use super::declarations::{Declared, enum_values};
use super::doc::Doc;
use super::typed::{ObjectShape, Reading, Typed, Unsupported};
use super::types::{Definition, TypeArguments, TypeReader};
use super::unions::one_of;

impl TypeReader<'_> {
    pub(super) fn named(&mut self, named: &TsTypeRef, arguments: &TypeArguments) -> Reading {
        let at = named.span.lo;
        let TsEntityName::Ident(name) = &named.type_name else {
            return self.enum_member(named);
        };
        if let Some(argument) = arguments.get(&name.sym) {
            return Ok(argument.clone());
        }
        let given = named.type_params.as_deref();
        if self.declarations.types(&name.sym).is_empty() {
            return self.built_in(&name.sym, given, arguments, at);
        }
        self.declared(&name.sym, given, arguments, at)
    }

    /// `Level.High`
    fn enum_member(&mut self, named: &TsTypeRef) -> Reading {
        let unknown = || {
            let message = "a name with a dot is understood for a member of an enum of this file";
            Unsupported::new(named.span.lo, message)
        };
        let TsEntityName::TsQualifiedName(qualified) = &named.type_name else {
            return Err(unknown());
        };
        let TsEntityName::Ident(name) = &qualified.left else {
            return Err(unknown());
        };
        let Some((_, Declared::Enum(declared))) = self.declarations.types(&name.sym).first() else {
            return Err(unknown());
        };
        let values = enum_values(declared).ok_or_else(unknown)?;
        let mut values = values.into_iter();
        let found = values.find(|(member, _)| **member == *qualified.right.sym);
        let (_, value) = found.ok_or_else(unknown)?;
        Ok(Typed::of(json!({ "const": value })))
    }

    /// A type of the file. Objects and types that name themselves are definitions; others stand where
    /// they are used.
    fn declared(
        &mut self,
        name: &Atom,
        given: Option<&TsTypeParamInstantiation>,
        arguments: &TypeArguments,
        at: BytePos,
    ) -> Reading {
        let given = self.arguments(given, arguments)?;
        let printed: Vec<String> = given
            .iter()
            .map(|typed| format!("{}{}", typed.schema, typed.is_optional))
            .collect();
        let id = (name.clone(), printed.join(","));
        if let Some(known) = self.keys.get_mut(&id) {
            return Ok(match &known.typed {
                Some(typed) => typed.clone(),
                None => {
                    known.is_recursive = true;
                    reference(&known.key)
                }
            });
        }
        let key = self.free_key(name);
        let definition = Definition {
            key: key.clone(),
            typed: None,
            is_recursive: false,
        };
        self.keys.insert(id.clone(), definition);
        let typed = self.declaration(name, &given, at)?;
        let is_object = typed.schema["type"] == "object";
        let Some(definition) = self.keys.get_mut(&id) else {
            return Ok(typed);
        };
        let typed = match is_object || definition.is_recursive {
            true => {
                self.definitions.insert(key.clone(), typed.schema);
                Typed {
                    is_optional: typed.is_optional,
                    ..reference(&key)
                }
            }
            false => typed,
        };
        definition.typed = Some(typed.clone());
        Ok(typed)
    }

    /// A name for a definition: that of the type, with a number if it has other arguments too.
    fn free_key(&self, name: &Atom) -> String {
        let is_taken = |key: &str| self.keys.values().any(|known| known.key == key);
        let first = name.to_string();
        if !is_taken(&first) {
            return first;
        }
        let mut numbered = (2..).map(|n| format!("{name}_{n}"));
        let is_free = |key: &String| {
            !is_taken(key) && self.declarations.types(&key.as_str().into()).is_empty()
        };
        numbered.find(is_free).unwrap_or(first)
    }

    fn declaration(&mut self, name: &Atom, given: &[Typed], at: BytePos) -> Reading {
        let declarations = self.declarations;
        let declared = declarations.types(name);
        let place = declared.first().map_or(at, |(place, _)| *place);
        let doc = Doc::before(self.comments, place);
        let mut shape = ObjectShape::default();
        for (_, declared) in declared {
            match declared {
                Declared::Interface(interface) => {
                    shape.extend(self.interface(interface, given)?);
                }
                Declared::Alias(alias) => {
                    let bound = self.bind(alias.type_params.as_deref(), given, at)?;
                    let typed = self.read(&alias.type_ann, &bound)?;
                    return Ok(Typed {
                        schema: match typed.schema.get("$ref") {
                            // The description is that of the type that is named.
                            Some(_) => typed.schema,
                            None => described(typed.schema, &doc, None),
                        },
                        ..typed
                    });
                }
                Declared::Enum(declared) => {
                    let Some(values) = enum_values(declared) else {
                        let message = format!("a value of the enum `{name}` is computed: write it");
                        return Err(Unsupported::new(at, message));
                    };
                    let values = values.into_iter().map(|(_, value)| value);
                    return Ok(Typed::of(described(one_of(values.collect()), &doc, None)));
                }
                Declared::Class => {
                    let message =
                        format!("the class `{name}` is no JSON: declare an interface instead");
                    return Err(Unsupported::new(at, message));
                }
                Declared::Imported => {
                    let message = format!("the type `{name}` is imported: declare it in this file");
                    return Err(Unsupported::new(at, message));
                }
            }
        }
        Ok(Typed::of(described(shape.into_schema(), &doc, None)))
    }

    fn interface(
        &mut self,
        interface: &TsInterfaceDecl,
        given: &[Typed],
    ) -> Result<ObjectShape, Unsupported> {
        let bound = self.bind(interface.type_params.as_deref(), given, interface.span.lo)?;
        let mut shape = ObjectShape::default();
        for base in &interface.extends {
            let Expr::Ident(name) = &*base.expr else {
                let message = "the base of an interface is a name";
                return Err(Unsupported::new(base.span.lo, message));
            };
            let given = base.type_args.as_deref();
            let base_type = match self.declarations.types(&name.sym).is_empty() {
                true => self.built_in(&name.sym, given, &bound, base.span.lo)?,
                false => self.declared(&name.sym, given, &bound, base.span.lo)?,
            };
            shape.extend(self.shape_of(&base_type, base.span.lo)?);
        }
        shape.extend(self.members(&interface.body.body, &bound)?);
        Ok(shape)
    }

    pub(super) fn arguments(
        &mut self,
        given: Option<&TsTypeParamInstantiation>,
        arguments: &TypeArguments,
    ) -> Result<Vec<Typed>, Unsupported> {
        let given = given.map_or(&[][..], |given| given.params.as_slice());
        given.iter().map(|ty| self.read(ty, arguments)).collect()
    }

    fn bind(
        &mut self,
        parameters: Option<&TsTypeParamDecl>,
        given: &[Typed],
        at: BytePos,
    ) -> Result<TypeArguments, Unsupported> {
        let mut bound = TypeArguments::new();
        let parameters = parameters.map_or(&[][..], |parameters| parameters.params.as_slice());
        for (n, parameter) in parameters.iter().enumerate() {
            let typed = match (given.get(n), &parameter.default) {
                (Some(given), _) => given.clone(),
                (None, Some(default)) => self.read(default, &bound)?,
                (None, None) => {
                    let message = format!("the type argument `{}` is missing", parameter.name.sym);
                    return Err(Unsupported::new(at, message));
                }
            };
            bound.insert(parameter.name.sym.clone(), typed);
        }
        Ok(bound)
    }
}

fn reference(key: &str) -> Typed {
    Typed::of(json!({ "$ref": format!("#/$defs/{key}") }))
}
