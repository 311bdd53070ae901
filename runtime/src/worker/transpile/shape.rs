//! Finds the result of a script: its default export, its `return`, its `run()` or `main()`, or
//! its last expression, and makes it the default export of a module.

use swc_core::common::DUMMY_SP;
use swc_core::ecma::ast::{
    ArrowExpr, ArrowFunctionBody, Callee, Decl, ExportDefaultExpr, ExportSpecifier, Expr, ExprStmt,
    FnDecl, FunctionBody, Ident, Module, ModuleDecl, ModuleExportName, ModuleItem, Pat, Stmt,
};
use swc_core::ecma::visit::{Visit, VisitWith};

use super::parse::Parsed;

/// Functions that are meant to be called, in the order of preference.
const ENTRY_POINTS: [&str; 2] = ["run", "main"];

pub fn into_module(parsed: Parsed) -> Module {
    let Parsed {
        mut module,
        returns,
    } = parsed;
    if returns {
        module.body = wrap_body(module.body);
    } else if !has_default_export(&module)
        && let Some(entry) = entry_point(&module)
    {
        module
            .body
            .push(export_default(Box::new(Expr::Ident(entry))));
    } else if !has_default_export(&module) {
        export_last_expression(&mut module.body);
    }
    module
}

/// A body with `return`: its statements become an async function, its imports stay outside.
fn wrap_body(items: Vec<ModuleItem>) -> Vec<ModuleItem> {
    let mut outside = Vec::new();
    let mut stmts = Vec::new();
    for item in items {
        match item {
            ModuleItem::Stmt(stmt) => stmts.push(stmt),
            declaration => outside.push(declaration),
        }
    }
    outside.push(export_default(Box::new(Expr::Arrow(ArrowExpr {
        span: DUMMY_SP,
        is_async: true,
        body: Box::new(ArrowFunctionBody::FunctionBody(FunctionBody {
            span: DUMMY_SP,
            stmts,
        })),
        ..Default::default()
    }))));
    outside
}

fn export_last_expression(items: &mut Vec<ModuleItem>) {
    match items.last() {
        Some(ModuleItem::Stmt(Stmt::Expr(last))) if !starts_timer(&last.expr) => {}
        _ => return,
    }
    if let Some(ModuleItem::Stmt(Stmt::Expr(ExprStmt { expr, .. }))) = items.pop() {
        items.push(export_default(expr));
    }
}

/// Nobody wants the number of a timer as the result; they want what it does.
fn starts_timer(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call)
        if matches!(&call.callee, Callee::Expr(callee)
            if matches!(&**callee, Expr::Ident(name)
                if name.sym == "setTimeout" || name.sym == "setInterval")))
}

fn export_default(expr: Box<Expr>) -> ModuleItem {
    ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(ExportDefaultExpr {
        span: DUMMY_SP,
        expr,
    }))
}

fn has_default_export(module: &Module) -> bool {
    module.body.iter().any(|item| match item {
        ModuleItem::ModuleDecl(
            ModuleDecl::ExportDefaultDecl(_) | ModuleDecl::ExportDefaultExpr(_),
        ) => true,
        ModuleItem::ModuleDecl(ModuleDecl::ExportNamed(export)) => {
            export.specifiers.iter().any(|specifier| {
                matches!(specifier, ExportSpecifier::Named(named)
                    if named.exported.as_ref().is_some_and(is_default))
            })
        }
        _ => false,
    })
}

fn is_default(name: &ModuleExportName) -> bool {
    *name.atom() == "default"
}

/// A function that the script declares and never mentions again: `run`, `main`, or the only
/// thing there is.
fn entry_point(module: &Module) -> Option<Ident> {
    let functions: Vec<&Ident> = module.body.iter().filter_map(declared_function).collect();
    let entry = match (functions.as_slice(), module.body.len()) {
        ([only], 1) => *only,
        _ => ENTRY_POINTS.iter().find_map(|name| {
            functions
                .iter()
                .copied()
                .find(|function| function.sym == **name)
        })?,
    };
    let mut mentions = Mentions {
        of: entry,
        count: 0,
    };
    module.visit_with(&mut mentions);
    (mentions.count == 1).then(|| entry.clone())
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

struct Mentions<'a> {
    of: &'a Ident,
    count: usize,
}

impl Visit for Mentions<'_> {
    /// An overload's signature is no use of the function.
    fn visit_fn_decl(&mut self, declaration: &FnDecl) {
        if declaration.function.body.is_some() {
            declaration.visit_children_with(self);
        }
    }

    fn visit_ident(&mut self, ident: &Ident) {
        if ident.sym == self.of.sym {
            self.count += 1;
        }
    }
}
