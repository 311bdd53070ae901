//! The types that a file declares, by name.

use std::collections::HashMap;

use serde_json::Value;
use swc_core::atoms::Atom;
use swc_core::common::{BytePos, Spanned};
use swc_core::ecma::ast::{
    Decl, Expr, ImportSpecifier, Lit, Module, ModuleDecl, ModuleItem, ObjectLit, Pat, Prop,
    PropName, PropOrSpread, Stmt, TsEnumDecl, TsEnumMemberId, TsInterfaceDecl, TsTypeAliasDecl,
    UnaryOp,
};

/// A type of a file.
#[derive(Clone, Copy)]
pub enum Declared<'a> {
    /// All declarations of one name are one interface.
    Interface(&'a TsInterfaceDecl),
    Alias(&'a TsTypeAliasDecl),
    Enum(&'a TsEnumDecl),
    Class,
    Imported,
}

/// What a file declares that types can name.
#[derive(Default)]
pub struct Declarations<'a> {
    types: HashMap<Atom, Vec<(BytePos, Declared<'a>)>>,
    /// Constants whose types are their values: `… as const`.
    constants: HashMap<Atom, &'a Expr>,
}

impl<'a> Declarations<'a> {
    pub fn of(module: &'a Module) -> Self {
        let mut declarations = Self::default();
        for item in &module.body {
            match item {
                ModuleItem::Stmt(Stmt::Decl(decl)) => declarations.add(decl, item.span().lo),
                ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => {
                    declarations.add(&export.decl, item.span().lo);
                }
                ModuleItem::ModuleDecl(ModuleDecl::Import(import)) => {
                    for specifier in &import.specifiers {
                        let local = match specifier {
                            ImportSpecifier::Named(named) => &named.local,
                            ImportSpecifier::Default(default) => &default.local,
                            ImportSpecifier::Namespace(namespace) => &namespace.local,
                        };
                        declarations.add_type(&local.sym, item.span().lo, Declared::Imported);
                    }
                }
                _ => {}
            }
        }
        declarations
    }

    /// The declarations of a type, each with the place of its comment.
    pub fn types(&self, name: &Atom) -> &[(BytePos, Declared<'a>)] {
        self.types.get(name).map_or(&[], Vec::as_slice)
    }

    /// The value of a constant that is declared `as const`.
    pub fn constant(&self, name: &Atom) -> Option<Value> {
        literal(self.constants.get(name)?)
    }

    fn add_type(&mut self, name: &Atom, at: BytePos, declared: Declared<'a>) {
        self.types
            .entry(name.clone())
            .or_default()
            .push((at, declared));
    }

    fn add(&mut self, decl: &'a Decl, at: BytePos) {
        match decl {
            Decl::TsInterface(interface) => {
                self.add_type(&interface.id.sym, at, Declared::Interface(interface));
            }
            Decl::TsTypeAlias(alias) => self.add_type(&alias.id.sym, at, Declared::Alias(alias)),
            Decl::TsEnum(declared) => self.add_type(&declared.id.sym, at, Declared::Enum(declared)),
            Decl::Class(class) => self.add_type(&class.ident.sym, at, Declared::Class),
            Decl::Var(var) => {
                for declarator in &var.decls {
                    if let (Pat::Ident(name), Some(Expr::TsConstAssertion(constant))) =
                        (&declarator.name, declarator.init.as_deref())
                    {
                        self.constants.insert(name.id.sym.clone(), &constant.expr);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The values of an enum, in their order; `None` if one of them is computed.
pub fn enum_values(declared: &TsEnumDecl) -> Option<Vec<(String, Value)>> {
    let mut values = Vec::new();
    let mut next = 0.0;
    for member in &declared.members {
        let name = match &member.id {
            TsEnumMemberId::Ident(name) => name.sym.to_string(),
            TsEnumMemberId::Str(name) => name.value.to_string_lossy().into_owned(),
        };
        let value = match &member.init {
            None => number(next),
            Some(init) => literal(init)?,
        };
        if let Some(n) = value.as_f64() {
            next = n + 1.0;
        }
        values.push((name, value));
    }
    Some(values)
}

/// The value of an expression that is JSON as it is written.
pub fn literal(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Lit(Lit::Str(text)) => Some(text.value.to_string_lossy().into_owned().into()),
        Expr::Lit(Lit::Bool(bool)) => Some(bool.value.into()),
        Expr::Lit(Lit::Num(n)) => Some(number(n.value)),
        Expr::Lit(Lit::Null(_)) => Some(Value::Null),
        Expr::Unary(unary) if unary.op == UnaryOp::Minus => {
            literal(&unary.arg)?.as_f64().map(|n| number(-n))
        }
        Expr::Tpl(template) if template.exprs.is_empty() => {
            let text = template.quasis.first()?.cooked.as_ref()?;
            Some(text.to_string_lossy().into_owned().into())
        }
        Expr::Paren(inner) => literal(&inner.expr),
        Expr::TsConstAssertion(inner) => literal(&inner.expr),
        Expr::TsAs(inner) => literal(&inner.expr),
        Expr::TsSatisfies(inner) => literal(&inner.expr),
        Expr::Array(array) => {
            let items = array.elems.iter().map(|item| match item {
                Some(item) if item.spread.is_none() => literal(&item.expr),
                _ => None,
            });
            items.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        Expr::Object(object) => object_literal(object),
        _ => None,
    }
}

fn object_literal(object: &ObjectLit) -> Option<Value> {
    let mut fields = serde_json::Map::new();
    for property in &object.props {
        let PropOrSpread::Prop(property) = property else {
            return None;
        };
        let Prop::KeyValue(field) = &**property else {
            return None;
        };
        let key = match &field.key {
            PropName::Ident(name) => name.sym.to_string(),
            PropName::Str(name) => name.value.to_string_lossy().into_owned(),
            _ => return None,
        };
        fields.insert(key, literal(&field.value)?);
    }
    Some(fields.into())
}

/// A number of JavaScript as JSON has it.
pub fn number(n: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match n.fract() == 0.0 && n.abs() < EXACT {
        true => (n as i64).into(),
        false => serde_json::Number::from_f64(n).map_or(Value::Null, Value::Number),
    }
}
