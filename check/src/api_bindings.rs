//! Resolves expressions to the script API: `callTool`, `tools.fs`, and aliases of them.

use std::collections::HashMap;

use swc_core::ecma::ast::{
    AssignExpr, AssignTarget, Expr, Id, Ident, ImportSpecifier, MemberExpr, MemberProp, ModuleDecl,
    ModuleExportName, ModuleItem, ObjectPatProp, Pat, PropName, SimpleAssignTarget, VarDecl,
    VarDeclKind,
};
use swc_core::ecma::visit::{Visit, VisitWith};

use pml_script::api::NAMES;

use crate::literal;
use crate::parsed_script::ParsedScript;

/// The part of the API that an expression refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiReference {
    /// A name of [`pml_script::api::SCRIPT_API`].
    Name(String),
    /// `tools.server`
    Server(String),
    /// `tools.server.tool`
    Tool { server: String, tool: String },
    /// `import * as pml`, `globalThis`
    Namespace,
}

/// The names of a script that are bound to the API.
#[derive(Default)]
pub struct ApiBindings {
    bound: HashMap<Id, ApiReference>,
    /// Globals that the script assigns to: their values are unknown.
    replaced: Vec<String>,
}

impl ApiBindings {
    pub fn of(script: &ParsedScript<'_>) -> Self {
        let mut api = Self::default();
        for item in &script.module.body {
            let ModuleItem::ModuleDecl(ModuleDecl::Import(import)) = item else {
                continue;
            };
            if import.src.value.as_str() != Some("pml") {
                continue;
            }
            for specifier in &import.specifiers {
                let (local, reference) = match specifier {
                    ImportSpecifier::Named(named) => {
                        let imported = match &named.imported {
                            Some(ModuleExportName::Ident(name)) => name.sym.to_string(),
                            Some(ModuleExportName::Str(name)) => {
                                name.value.to_string_lossy().into_owned()
                            }
                            None => named.local.sym.to_string(),
                        };
                        (&named.local, ApiReference::Name(imported))
                    }
                    ImportSpecifier::Namespace(namespace) => {
                        (&namespace.local, ApiReference::Namespace)
                    }
                    ImportSpecifier::Default(_) => continue,
                };
                api.bound.insert(local.to_id(), reference);
            }
        }
        let mut collector = Collector { script, api };
        script.module.visit_with(&mut collector);
        collector.api
    }

    /// Whether the script assigns to a global of this name.
    pub fn is_replaced(&self, name: &str) -> bool {
        self.replaced.iter().any(|replaced| replaced == name)
    }

    /// The part of the API that an expression refers to, if any.
    pub fn resolve(&self, script: &ParsedScript<'_>, expr: &Expr) -> Option<ApiReference> {
        if literal::is_cast_to_any(expr) {
            return None;
        }
        match literal::without_casts(expr) {
            Expr::Ident(ident) => self.resolve_name(script, ident),
            Expr::Member(member) => self.resolve_member(script, member),
            _ => None,
        }
    }

    fn resolve_name(&self, script: &ParsedScript<'_>, ident: &Ident) -> Option<ApiReference> {
        if !script.is_global(ident) {
            return self.bound.get(&ident.to_id()).cloned();
        }
        let name = ident.sym.as_str();
        if name == "globalThis" {
            return Some(ApiReference::Namespace);
        }
        let is_api = NAMES.contains(&name) && !self.is_replaced(name);
        is_api.then(|| ApiReference::Name(name.to_owned()))
    }

    fn resolve_member(
        &self,
        script: &ParsedScript<'_>,
        member: &MemberExpr,
    ) -> Option<ApiReference> {
        let object = self.resolve(script, &member.obj)?;
        self.member(object, &property_name(&member.prop)?)
    }

    fn member(&self, object: ApiReference, name: &str) -> Option<ApiReference> {
        match object {
            ApiReference::Namespace => {
                let is_api = NAMES.contains(&name) && !self.is_replaced(name);
                is_api.then(|| ApiReference::Name(name.to_owned()))
            }
            // JavaScript looks these up on any object.
            _ if matches!(name, "then" | "toJSON") => None,
            ApiReference::Name(api_name) if api_name == "tools" => {
                Some(ApiReference::Server(name.to_owned()))
            }
            ApiReference::Server(server) => Some(ApiReference::Tool {
                server,
                tool: name.to_owned(),
            }),
            ApiReference::Name(_) | ApiReference::Tool { .. } => None,
        }
    }
}

/// The name in `.name` or `["name"]`.
pub fn property_name(prop: &MemberProp) -> Option<String> {
    match prop {
        MemberProp::Ident(name) => Some(name.sym.to_string()),
        MemberProp::Computed(computed) => literal::text(&computed.expr),
        MemberProp::PrivateName(_) => None,
    }
}

/// Finds `const fs = tools.fs`, `const { fs } = tools`, and assignments to globals.
struct Collector<'a, 'b> {
    script: &'a ParsedScript<'b>,
    api: ApiBindings,
}

impl Collector<'_, '_> {
    fn bind(&mut self, pattern: &Pat, reference: ApiReference) {
        match pattern {
            Pat::Ident(name) => {
                self.api.bound.insert(name.id.to_id(), reference);
            }
            Pat::Object(object) => {
                for property in &object.props {
                    match property {
                        ObjectPatProp::Assign(assign) if assign.value.is_none() => {
                            let member = self.api.member(reference.clone(), &assign.key.sym);
                            if let Some(member) = member {
                                self.api.bound.insert(assign.key.to_id(), member);
                            }
                        }
                        ObjectPatProp::KeyValue(pair) => {
                            let member = key_name(&pair.key)
                                .and_then(|name| self.api.member(reference.clone(), &name));
                            if let Some(member) = member {
                                self.bind(&pair.value, member);
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

/// The name of an object key, where it is a literal.
pub fn key_name(key: &PropName) -> Option<String> {
    match key {
        PropName::Ident(name) => Some(name.sym.to_string()),
        PropName::Str(text) => text.value.as_str().map(str::to_owned),
        PropName::Computed(computed) => literal::text(&computed.expr),
        PropName::Num(number) => Some(number.value.to_string()),
        PropName::BigInt(_) => None,
    }
}

impl Visit for Collector<'_, '_> {
    fn visit_var_decl(&mut self, declaration: &VarDecl) {
        if declaration.kind == VarDeclKind::Const {
            for declarator in &declaration.decls {
                if let Some(value) = &declarator.init
                    && let Some(reference) = self.api.resolve(self.script, value)
                {
                    self.bind(&declarator.name, reference);
                }
            }
        }
        declaration.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assignment: &AssignExpr) {
        if let AssignTarget::Simple(target) = &assignment.left {
            let name = match target {
                SimpleAssignTarget::Ident(name)
                    if self.script.is_global(&name.id) && NAMES.contains(&name.id.sym.as_str()) =>
                {
                    Some(name.id.sym.to_string())
                }
                SimpleAssignTarget::Member(member)
                    if self.api.resolve(self.script, &member.obj)
                        == Some(ApiReference::Namespace) =>
                {
                    property_name(&member.prop)
                }
                _ => None,
            };
            self.api.replaced.extend(name);
        }
        assignment.visit_children_with(self);
    }
}
