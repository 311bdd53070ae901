//! Which expressions of a script mean what pml gives it: `callTool`, `tools.fs`, and their other
//! names.

use std::collections::HashMap;

use swc_core::ecma::ast::{
    AssignExpr, AssignTarget, Expr, Id, Ident, ImportSpecifier, MemberExpr, MemberProp, ModuleDecl,
    ModuleExportName, ModuleItem, ObjectPatProp, Pat, PropName, SimpleAssignTarget, VarDecl,
    VarDeclKind,
};
use swc_core::ecma::visit::{Visit, VisitWith};

use pml_script::api::NAMES;

use crate::literal;
use crate::script::Script;

/// What an expression stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A name of [`pml_script::api::SCRIPT_API`].
    Name(String),
    /// `tools.server`
    Server(String),
    /// `tools.server.tool`
    Tool { server: String, tool: String },
    /// `import * as pml`, `globalThis`
    Namespace,
}

/// The names of a script that stand for something of pml.
#[derive(Default)]
pub struct Api {
    known: HashMap<Id, Meaning>,
    /// Globals that the script replaces: nothing is known about them.
    replaced: Vec<String>,
}

impl Api {
    pub fn of(script: &Script<'_>) -> Self {
        let mut api = Self::default();
        for item in &script.module.body {
            let ModuleItem::ModuleDecl(ModuleDecl::Import(import)) = item else {
                continue;
            };
            if import.src.value.as_str() != Some("pml") {
                continue;
            }
            for specifier in &import.specifiers {
                let (local, meaning) = match specifier {
                    ImportSpecifier::Named(named) => {
                        let imported = match &named.imported {
                            Some(ModuleExportName::Ident(name)) => name.sym.to_string(),
                            Some(ModuleExportName::Str(name)) => {
                                name.value.to_string_lossy().into_owned()
                            }
                            None => named.local.sym.to_string(),
                        };
                        (&named.local, Meaning::Name(imported))
                    }
                    ImportSpecifier::Namespace(namespace) => (&namespace.local, Meaning::Namespace),
                    ImportSpecifier::Default(_) => continue,
                };
                api.known.insert(local.to_id(), meaning);
            }
        }
        let mut collector = Collector { script, api };
        script.module.visit_with(&mut collector);
        collector.api
    }

    /// What an expression means, if it means anything of pml.
    pub fn meaning(&self, script: &Script<'_>, expr: &Expr) -> Option<Meaning> {
        if literal::is_overruled(expr) {
            return None;
        }
        match literal::bare(expr) {
            Expr::Ident(ident) => self.meaning_of_name(script, ident),
            Expr::Member(member) => self.meaning_of_member(script, member),
            _ => None,
        }
    }

    fn meaning_of_name(&self, script: &Script<'_>, ident: &Ident) -> Option<Meaning> {
        if !script.is_global(ident) {
            return self.known.get(&ident.to_id()).cloned();
        }
        let name = ident.sym.as_str();
        if name == "globalThis" {
            return Some(Meaning::Namespace);
        }
        let is_ours = NAMES.contains(&name) && !self.replaced.iter().any(|one| one == name);
        is_ours.then(|| Meaning::Name(name.to_owned()))
    }

    fn meaning_of_member(&self, script: &Script<'_>, member: &MemberExpr) -> Option<Meaning> {
        let of = self.meaning(script, &member.obj)?;
        self.part(of, &property(&member.prop)?)
    }

    fn part(&self, of: Meaning, name: &str) -> Option<Meaning> {
        match of {
            Meaning::Namespace => {
                let is_ours = NAMES.contains(&name) && !self.replaced.iter().any(|one| one == name);
                is_ours.then(|| Meaning::Name(name.to_owned()))
            }
            // The language asks these of any object.
            _ if matches!(name, "then" | "toJSON") => None,
            Meaning::Name(object) if object == "tools" => Some(Meaning::Server(name.to_owned())),
            Meaning::Server(server) => Some(Meaning::Tool {
                server,
                tool: name.to_owned(),
            }),
            Meaning::Name(_) | Meaning::Tool { .. } => None,
        }
    }
}

/// `.name`, or `["name"]`.
pub fn property(prop: &MemberProp) -> Option<String> {
    match prop {
        MemberProp::Ident(name) => Some(name.sym.to_string()),
        MemberProp::Computed(computed) => literal::text(&computed.expr),
        MemberProp::PrivateName(_) => None,
    }
}

/// Finds `const fs = tools.fs`, `const { fs } = tools`, and globals that are replaced.
struct Collector<'a, 'b> {
    script: &'a Script<'b>,
    api: Api,
}

impl Collector<'_, '_> {
    fn bind(&mut self, pattern: &Pat, meaning: Meaning) {
        match pattern {
            Pat::Ident(name) => {
                self.api.known.insert(name.id.to_id(), meaning);
            }
            Pat::Object(object) => {
                for property in &object.props {
                    match property {
                        ObjectPatProp::Assign(assign) if assign.value.is_none() => {
                            let part = self.api.part(meaning.clone(), &assign.key.sym);
                            if let Some(part) = part {
                                self.api.known.insert(assign.key.to_id(), part);
                            }
                        }
                        ObjectPatProp::KeyValue(pair) => {
                            let part = name_of(&pair.key)
                                .and_then(|name| self.api.part(meaning.clone(), &name));
                            if let Some(part) = part {
                                self.bind(&pair.value, part);
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

/// The name of a property, where it is written out.
pub fn name_of(key: &PropName) -> Option<String> {
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
                    && let Some(meaning) = self.api.meaning(self.script, value)
                {
                    self.bind(&declarator.name, meaning);
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
                    if self.api.meaning(self.script, &member.obj) == Some(Meaning::Namespace) =>
                {
                    property(&member.prop)
                }
                _ => None,
            };
            self.api.replaced.extend(name);
        }
        assignment.visit_children_with(self);
    }
}

impl Api {
    /// Whether the script makes a global of this name itself.
    pub fn is_replaced(&self, name: &str) -> bool {
        self.replaced.iter().any(|replaced| replaced == name)
    }
}
