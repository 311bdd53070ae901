//! Whether V8 compiles a script as a classic script or as a module.

use swc_core::ecma::ast::{
    AwaitExpr, Class, ClassMember, Function, Ident, MetaPropExpr, MetaPropKind, Stmt, ThisExpr,
    TsEnumDecl, TsModuleDecl,
};
use swc_core::ecma::visit::{Visit, VisitWith};

/// The goal symbol of the JavaScript grammar that a script is compiled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// A classic script. Its value is the function that wraps the author's script.
    Script,
    /// A module. Its default export is that function. Compiling it takes 1.5 times as long.
    Module,
}

/// Whether the statements use syntax that a classic script refuses or reads differently.
pub(crate) fn needs_module(stmts: &[Stmt]) -> bool {
    let mut finder = ModuleOnly::default();
    stmts.visit_with(&mut finder);
    finder.found
}

/// Syntax that needs module semantics: `import.meta`, top-level `this`, and `await` used as an
/// identifier or inside a TypeScript enum or namespace (which compile to functions, where it is an
/// error).
#[derive(Default)]
struct ModuleOnly {
    found: bool,
    /// Inside a function or class, which has its own `this`.
    has_this: bool,
    /// Inside a declaration that compiles to a function without `async`.
    await_is_error: bool,
}

impl ModuleOnly {
    fn visit_inside(&mut self, node: &impl VisitWith<Self>) {
        let outside = std::mem::replace(&mut self.has_this, true);
        node.visit_children_with(self);
        self.has_this = outside;
    }

    fn visit_compiled_function(&mut self, declaration: &impl VisitWith<Self>) {
        let outside = std::mem::replace(&mut self.await_is_error, true);
        declaration.visit_children_with(self);
        self.await_is_error = outside;
    }
}

impl Visit for ModuleOnly {
    fn visit_meta_prop_expr(&mut self, meta: &MetaPropExpr) {
        self.found |= meta.kind == MetaPropKind::ImportMeta;
    }

    fn visit_this_expr(&mut self, _: &ThisExpr) {
        self.found |= !self.has_this;
    }

    fn visit_ident(&mut self, ident: &Ident) {
        self.found |= ident.sym == "await";
    }

    fn visit_await_expr(&mut self, awaited: &AwaitExpr) {
        self.found |= self.await_is_error;
        awaited.visit_children_with(self);
    }

    fn visit_ts_enum_decl(&mut self, declaration: &TsEnumDecl) {
        self.visit_compiled_function(declaration);
    }

    fn visit_ts_module_decl(&mut self, declaration: &TsModuleDecl) {
        self.visit_compiled_function(declaration);
    }

    fn visit_function(&mut self, function: &Function) {
        self.visit_inside(function);
    }

    /// The superclass and computed keys of a class are evaluated in the scope around it.
    fn visit_class(&mut self, class: &Class) {
        class.super_class.visit_with(self);
        for member in &class.body {
            match member {
                ClassMember::Method(method) => {
                    method.key.visit_with(self);
                    self.visit_inside(&method.function);
                }
                ClassMember::ClassProp(property) => {
                    property.key.visit_with(self);
                    self.visit_inside(&property.value);
                }
                other => self.visit_inside(other),
            }
        }
    }
}
