//! The rule for which expression of a script is its result. The worker compiles by it and
//! `pml check` judges by it.
//!
//! In this order: the default export, unless the script calls that function itself; a function
//! `run` or `main` (or the only statement of the script) that the script declares and never uses;
//! the last expression, also inside of the branches of an `if` or `try` at the end. A `return` outside any function is JavaScript and needs no rule.

use swc_core::common::{Span, Spanned};
use swc_core::ecma::ast::{
    ArrowExpr, BlockStmt, CallExpr, Callee, Class, Decl, DefaultDecl, ExportSpecifier, Expr,
    FnDecl, Function, Ident, Module, ModuleDecl, ModuleExportName, ModuleItem, NamedExport, Pat,
    Stmt, TsModuleRef, VarDeclarator,
};
use swc_core::ecma::visit::{Visit, VisitWith};

use crate::rejection::{Located, RejectionKind};

/// Functions that are meant to be called, in the order of preference.
const ENTRY_POINTS: [&str; 2] = ["run", "main"];

/// Where a script's result comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptResult {
    /// The default export; if it is a function, what the function returns.
    DefaultExport,
    /// What this function returns.
    EntryPoint(Ident),
    /// The expression statement, or the block `{ a, b }`, at this span.
    LastExpression(Span),
    /// The last expression of each branch of the `if` or `try` that the script ends with: the
    /// expression statements at these spans.
    Branches(Vec<Span>),
    /// The script has no result, unless a `return` gives one.
    Nothing,
}

/// Finds the result of a script.
pub fn result_of(module: &Module) -> ScriptResult {
    let exports = module
        .body
        .iter()
        .any(|item| exports_default(item) && !is_reexport(item));
    let is_called = || default_function(module).is_some_and(|name| is_called(module, name));
    if exports && !is_called() {
        return ScriptResult::DefaultExport;
    }
    if let Some(entry) = entry_point(module) {
        return ScriptResult::EntryPoint(entry);
    }
    match last_statement(module) {
        Some(Stmt::Expr(last)) if is_result(module, &last.expr) => {
            ScriptResult::LastExpression(last.span)
        }
        Some(Stmt::Block(block)) if is_names_in_braces(block) => {
            ScriptResult::LastExpression(block.span)
        }
        Some(last @ (Stmt::If(_) | Stmt::Try(_))) => {
            let mut ends = Vec::new();
            collect_ends(module, last, &mut ends);
            match ends.is_empty() {
                true => ScriptResult::Nothing,
                false => ScriptResult::Branches(ends),
            }
        }
        _ => ScriptResult::Nothing,
    }
}

/// The last expressions of the branches of a statement.
fn collect_ends(module: &Module, stmt: &Stmt, ends: &mut Vec<Span>) {
    let last_of = |stmts: &[Stmt], ends: &mut Vec<Span>| {
        let does_something = |stmt: &&Stmt| !only_declares(stmt);
        if let Some(last) = stmts.iter().rev().find(does_something) {
            collect_ends(module, last, ends);
        }
    };
    match stmt {
        Stmt::Expr(last) if is_result(module, &last.expr) && !is_effect(&last.expr) => {
            ends.push(last.span);
        }
        Stmt::Block(block) => last_of(&block.stmts, ends),
        Stmt::If(branches) => {
            collect_ends(module, &branches.cons, ends);
            if let Some(other) = &branches.alt {
                collect_ends(module, other, ends);
            }
        }
        Stmt::Try(attempt) => {
            last_of(&attempt.block.stmts, ends);
            if let Some(handler) = &attempt.handler {
                last_of(&handler.body.stmts, ends);
            }
        }
        _ => {}
    }
}

/// Whether the value of the last expression is meant. That of a timer or of a definition is not.
fn is_result(module: &Module, expr: &Expr) -> bool {
    !starts_timer(module, expr) && !defines_function(expr)
}

/// An assignment, or `console.log(…)`: what it does is meant, not its value.
fn is_effect(expr: &Expr) -> bool {
    let callee = match expr {
        Expr::Assign(_) | Expr::Update(_) => return true,
        Expr::Call(call) => call.callee.as_expr(),
        _ => None,
    };
    let object = callee
        .and_then(|callee| callee.as_member())
        .map(|member| &member.obj);
    object
        .and_then(|object| object.as_ident())
        .is_some_and(|name| name.sym == "console")
}

/// `object.method = () => { … }` defines a function, and does not ask for its call.
fn defines_function(expr: &Expr) -> bool {
    match expr {
        Expr::Assign(assignment) => {
            matches!(&*assignment.right, Expr::Arrow(_) | Expr::Fn(_))
                || defines_function(&assignment.right)
        }
        Expr::Paren(inner) => defines_function(&inner.expr),
        _ => false,
    }
}

/// Refuses a script with two results.
pub(crate) fn check(module: &Module) -> Result<(), Located> {
    let mut defaults = module.body.iter().filter(|item| exports_default(item));
    match defaults.nth(1) {
        None => Ok(()),
        Some(second) => Err(Located {
            kind: RejectionKind::Syntax,
            message: "a script has one default export; this is the second".to_owned(),
            at: second.span().lo,
        }),
    }
}

fn exports_default(item: &ModuleItem) -> bool {
    match item {
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(_)) => true,
        // The signature of an overload does not export anything.
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => match &export.decl {
            DefaultDecl::Fn(function) => function.function.body.is_some(),
            DefaultDecl::Class(_) => true,
            DefaultDecl::TsInterfaceDecl(_) => false,
        },
        ModuleItem::ModuleDecl(ModuleDecl::ExportNamed(export)) => {
            export.specifiers.iter().any(|specifier| {
                matches!(specifier, ExportSpecifier::Named(named)
                    if named.exported.as_ref().is_some_and(is_default))
            })
        }
        _ => false,
    }
}

/// `export { x as default } from "…"` exports no value of the script.
fn is_reexport(item: &ModuleItem) -> bool {
    matches!(item, ModuleItem::ModuleDecl(ModuleDecl::ExportNamed(export)) if export.src.is_some())
}

pub(crate) fn is_default(name: &ModuleExportName) -> bool {
    *name.atom() == "default"
}

/// The last statement that does something. Functions, classes and types may follow it.
fn last_statement(module: &Module) -> Option<&Stmt> {
    for item in module.body.iter().rev() {
        match item {
            ModuleItem::Stmt(stmt) if only_declares(stmt) || is_class_or_enum(stmt) => {}
            ModuleItem::Stmt(stmt) => return Some(stmt),
            ModuleItem::ModuleDecl(declaration) if does_something(declaration) => return None,
            ModuleItem::ModuleDecl(_) => {}
        }
    }
    None
}

/// Whether an import or export becomes a statement that runs.
fn does_something(declaration: &ModuleDecl) -> bool {
    match declaration {
        ModuleDecl::ExportDecl(export) => !is_function_or_type(&export.decl),
        ModuleDecl::ExportDefaultExpr(_) => true,
        ModuleDecl::ExportDefaultDecl(export) => match &export.decl {
            // A named function is hoisted; a nameless one is a value.
            DefaultDecl::Fn(function) => function.ident.is_none(),
            DefaultDecl::Class(_) => true,
            DefaultDecl::TsInterfaceDecl(_) => false,
        },
        ModuleDecl::TsImportEquals(alias) => {
            matches!(alias.module_ref, TsModuleRef::TsEntityName(_)) && !alias.is_type_only
        }
        _ => false,
    }
}

fn only_declares(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Empty(_) => true,
        Stmt::Decl(declaration) => is_function_or_type(declaration),
        _ => false,
    }
}

/// A class or an enum may follow the last expression too.
fn is_class_or_enum(stmt: &Stmt) -> bool {
    matches!(
        stmt,
        Stmt::Decl(Decl::Class(_) | Decl::TsEnum(_) | Decl::TsModule(_))
    )
}

fn is_function_or_type(declaration: &Decl) -> bool {
    matches!(
        declaration,
        Decl::Fn(_) | Decl::TsInterface(_) | Decl::TsTypeAlias(_)
    )
}

/// The id of a timer is not a result: the author wants what the timer does.
fn starts_timer(module: &Module, expr: &Expr) -> bool {
    let Expr::Call(call) = expr else { return false };
    let Callee::Expr(callee) = &call.callee else {
        return false;
    };
    let Expr::Ident(name) = &**callee else {
        return false;
    };
    let is_own = |item: &ModuleItem| match item {
        ModuleItem::Stmt(Stmt::Decl(Decl::Fn(own))) => own.ident.sym == name.sym,
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => {
            matches!(&export.decl, Decl::Fn(own) if own.ident.sym == name.sym)
        }
        _ => false,
    };
    matches!(&*name.sym, "setTimeout" | "setInterval") && !module.body.iter().any(is_own)
}

/// `{ total, count }` is a block to the parser, which does nothing; its author means the object.
fn is_names_in_braces(block: &BlockStmt) -> bool {
    let [Stmt::Expr(inside)] = block.stmts.as_slice() else {
        return false;
    };
    match &*inside.expr {
        Expr::Seq(list) => list.exprs.iter().all(|name| name.is_ident()),
        one => one.is_ident(),
    }
}

/// A function that the script declares and does not use: `run`, `main`, or the only statement.
fn entry_point(module: &Module) -> Option<Ident> {
    let functions: Vec<&Ident> = module.body.iter().filter_map(declared_function).collect();
    let statements = module.body.iter().filter(|item| !is_erased(item)).count();
    let entry = match (functions.as_slice(), statements) {
        ([only], 1) => *only,
        _ => ENTRY_POINTS.iter().find_map(|name| {
            functions
                .iter()
                .copied()
                .find(|function| function.sym == **name)
        })?,
    };
    let mut references = References {
        of: entry,
        found: false,
    };
    module.visit_with(&mut references);
    (!references.found).then(|| entry.clone())
}

/// Whether a statement is erased before the script runs.
fn is_erased(item: &ModuleItem) -> bool {
    match item {
        ModuleItem::ModuleDecl(ModuleDecl::Import(_) | ModuleDecl::ExportNamed(_)) => true,
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => {
            matches!(export.decl, Decl::TsInterface(_) | Decl::TsTypeAlias(_))
        }
        // The signature of an overload is one of these.
        ModuleItem::Stmt(Stmt::Decl(Decl::Fn(function))) => function.function.body.is_none(),
        ModuleItem::Stmt(stmt) => only_declares(stmt),
        ModuleItem::ModuleDecl(_) => false,
    }
}

/// The name of the default export, if it can be a function of the script.
fn default_function(module: &Module) -> Option<&Ident> {
    module.body.iter().find_map(|item| match item {
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => match &export.decl {
            DefaultDecl::Fn(function) => function.ident.as_ref(),
            _ => None,
        },
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(export)) => export.expr.as_ident(),
        _ => None,
    })
}

/// Whether the script calls this function, outside any other function.
fn is_called(module: &Module, name: &Ident) -> bool {
    let mut calls = TopLevelCalls {
        of: name,
        found: false,
    };
    module.visit_with(&mut calls);
    calls.found
}

struct TopLevelCalls<'a> {
    of: &'a Ident,
    found: bool,
}

impl Visit for TopLevelCalls<'_> {
    fn visit_function(&mut self, _: &Function) {}

    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}

    fn visit_class(&mut self, _: &Class) {}

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && callee
                .as_ident()
                .is_some_and(|name| name.sym == self.of.sym)
        {
            self.found = true;
        }
        call.visit_children_with(self);
    }
}

fn declared_function(item: &ModuleItem) -> Option<&Ident> {
    let declaration = match item {
        ModuleItem::Stmt(Stmt::Decl(declaration)) => declaration,
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => &export.decl,
        _ => return None,
    };
    match declaration {
        Decl::Fn(function) if function.function.body.is_some() => Some(&function.ident),
        Decl::Var(variables) => match variables.decls.as_slice() {
            [declarator] => match (&declarator.name, declarator.init.as_deref()) {
                (Pat::Ident(name), Some(Expr::Arrow(_) | Expr::Fn(_))) => Some(&name.id),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// References to an identifier, not counting its own declaration or `export` specifiers.
struct References<'a> {
    of: &'a Ident,
    found: bool,
}

impl Visit for References<'_> {
    fn visit_fn_decl(&mut self, declaration: &FnDecl) {
        if declaration.ident.sym != self.of.sym {
            declaration.visit_children_with(self);
        }
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        let name = declarator.name.as_ident();
        if name.is_none_or(|name| name.sym != self.of.sym) {
            declarator.visit_children_with(self);
        }
    }

    fn visit_named_export(&mut self, _: &NamedExport) {}

    fn visit_ident(&mut self, ident: &Ident) {
        self.found |= ident.sym == self.of.sym;
    }
}
