//! Whether the names of a script stay as its author wrote them, and the parentheses of superclasses.

use swc_core::common::DUMMY_SP;
use swc_core::common::util::take::Take;
use swc_core::ecma::ast::{Class, Expr, ParenExpr, Program, TsEnumDecl, TsModuleDecl};
use swc_core::ecma::visit::{Visit, VisitMut, VisitMutWith, VisitWith};

/// Whether the translation of a script adds functions with parameters, which may have the name of
/// something inside: namespaces and enums become functions.
pub(crate) fn needs_hygiene(program: &Program) -> bool {
    let mut finder = Functions(false);
    program.visit_with(&mut finder);
    finder.0
}

struct Functions(bool);

impl Visit for Functions {
    fn visit_ts_module_decl(&mut self, _: &TsModuleDecl) {
        self.0 = true;
    }

    fn visit_ts_enum_decl(&mut self, _: &TsEnumDecl) {
        self.0 = true;
    }
}

/// Keeps the parentheses in `class C extends (() => {}) {}`: the printer leaves them out.
pub(crate) struct Superclasses;

impl VisitMut for Superclasses {
    fn visit_mut_class(&mut self, class: &mut Class) {
        class.visit_mut_children_with(self);
        if let Some(superclass) = &mut class.super_class
            && matches!(
                **superclass,
                Expr::Arrow(_)
                    | Expr::Assign(_)
                    | Expr::Cond(_)
                    | Expr::Seq(_)
                    | Expr::Yield(_)
                    | Expr::Bin(_)
                    | Expr::Unary(_)
                    | Expr::Await(_)
                    | Expr::Update(_)
            )
        {
            let expr = superclass.take();
            **superclass = Expr::Paren(ParenExpr {
                span: DUMMY_SP,
                expr,
            });
        }
    }
}
