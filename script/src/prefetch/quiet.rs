//! What code can do, judged by its syntax alone.

use std::collections::HashSet;

use swc_core::atoms::Atom;
use swc_core::ecma::ast::{
    AssignExpr, AssignTarget, AwaitExpr, BlockStmt, CallExpr, Callee, Expr, ForOfStmt, NewExpr,
    SimpleAssignTarget, Stmt, TaggedTpl, UpdateExpr, YieldExpr,
};
use swc_core::ecma::visit::{Visit, VisitWith};

/// Whether code neither waits nor calls anything but what prints and converts data: when it has run, no
/// time has passed.
pub(super) fn is_quiet<N: VisitWith<Quiet>>(node: &N) -> bool {
    let mut quiet = Quiet(true);
    node.visit_with(&mut quiet);
    quiet.0
}

pub(super) struct Quiet(bool);

impl Visit for Quiet {
    fn visit_await_expr(&mut self, _: &AwaitExpr) {
        self.0 = false;
    }

    fn visit_yield_expr(&mut self, _: &YieldExpr) {
        self.0 = false;
    }

    fn visit_for_of_stmt(&mut self, _: &ForOfStmt) {
        self.0 = false;
    }

    fn visit_tagged_tpl(&mut self, _: &TaggedTpl) {
        self.0 = false;
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        self.0 &= matches!(&call.callee, Callee::Expr(callee) if is_harmless(callee));
        call.args.visit_with(self);
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        self.0 &= new
            .callee
            .as_ident()
            .is_some_and(|name| name.sym.ends_with("Error"));
        new.args.visit_with(self);
    }
}

fn is_harmless(callee: &Expr) -> bool {
    match callee {
        Expr::Ident(name) => matches!(&*name.sym, "String" | "Number"),
        Expr::Member(member) => member
            .obj
            .as_ident()
            .is_some_and(|object| matches!(&*object.sym, "console" | "JSON" | "Object")),
        _ => false,
    }
}

/// Whether the block ends with a `return` or a `throw`.
pub(super) fn exits(block: &BlockStmt) -> bool {
    matches!(block.stmts.last(), Some(Stmt::Return(_) | Stmt::Throw(_)))
}

/// The names that code assigns to.
pub(super) fn assigned_names(stmt: &Stmt) -> HashSet<Atom> {
    let mut assigned = Assigned::default();
    stmt.visit_with(&mut assigned);
    assigned.0
}

#[derive(Default)]
struct Assigned(HashSet<Atom>);

impl Visit for Assigned {
    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        if let AssignTarget::Simple(SimpleAssignTarget::Ident(name)) = &assign.left {
            self.0.insert(name.id.sym.clone());
        }
        assign.visit_children_with(self);
    }

    fn visit_update_expr(&mut self, update: &UpdateExpr) {
        if let Some(name) = update.arg.as_ident() {
            self.0.insert(name.sym.clone());
        }
    }
}
