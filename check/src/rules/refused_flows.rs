//! Calls that are refused, because a call before them returns what their tool does not accept.

use swc_core::common::{Span, Spanned};
use swc_core::ecma::ast::{
    ArrowExpr, AssignExpr, AssignOp, AssignPat, AwaitExpr, BinExpr, CallExpr, Callee, Class,
    CondExpr, Decl, Expr, Function, ModuleItem, OptChainExpr, Stmt, VarDecl,
};
use swc_core::ecma::visit::{Visit, VisitWith};

use crate::api_bindings::ApiReference;
use crate::finding::{Finding, Rule};
use crate::literal;
use crate::parsed_script::ParsedScript;

/// Says which calls are refused after others.
pub trait FlowRules: Send + Sync {
    /// Why a call of `tool` is refused in a run that has the results of the tools in `earlier`; `None` if it may
    /// be sent.
    fn refusal(&self, earlier: &[String], tool: &str) -> Option<String>;
}

/// Reports calls that are refused whenever they are reached. What a script has read for certain are the results
/// of calls that its own statements await, outside of branches, loops and functions.
pub fn check(script: &ParsedScript<'_>, flows: &dyn FlowRules) -> Vec<Finding> {
    let mut earlier: Vec<String> = Vec::new();
    let mut findings = Vec::new();
    for item in &script.module.body {
        // A function that is declared further down can be called before.
        if matches!(item, ModuleItem::Stmt(Stmt::Decl(Decl::Fn(_)))) {
            continue;
        }
        let mut calls = Calls {
            script,
            found: Vec::new(),
        };
        item.visit_with(&mut calls);
        for (tool, span) in calls.found {
            if let Some(reason) = flows.refusal(&earlier, &tool) {
                findings.push(script.finding(Rule::RefusedFlow, span, reason));
            }
        }
        earlier.extend(awaited(script, item));
    }
    findings
}

/// The tools that a statement calls, wherever in it.
struct Calls<'a, 'b> {
    script: &'a ParsedScript<'b>,
    found: Vec<(String, Span)>,
}

impl Visit for Calls<'_, '_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Some(tool) = called(self.script, call) {
            self.found.push((tool, call.callee.span()));
        }
        call.visit_children_with(self);
    }
}

/// The tools whose calls a statement awaits in any case.
fn awaited(script: &ParsedScript<'_>, item: &ModuleItem) -> Vec<String> {
    let mut awaited = Awaited {
        script,
        found: Vec::new(),
    };
    match item {
        ModuleItem::Stmt(Stmt::Expr(statement)) => statement.visit_with(&mut awaited),
        ModuleItem::Stmt(Stmt::Decl(Decl::Var(declared))) => {
            VarDecl::visit_children_with(declared, &mut awaited);
        }
        _ => {}
    }
    awaited.found
}

struct Awaited<'a, 'b> {
    script: &'a ParsedScript<'b>,
    found: Vec<String>,
}

impl Visit for Awaited<'_, '_> {
    fn visit_await_expr(&mut self, awaited: &AwaitExpr) {
        if let Expr::Call(call) = literal::without_casts(&awaited.arg)
            && let Some(tool) = called(self.script, call)
        {
            self.found.push(tool);
        }
        awaited.visit_children_with(self);
    }

    // What is inside of these may not be evaluated.
    fn visit_function(&mut self, _: &Function) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
    fn visit_cond_expr(&mut self, _: &CondExpr) {}
    fn visit_bin_expr(&mut self, _: &BinExpr) {}
    fn visit_opt_chain_expr(&mut self, _: &OptChainExpr) {}
    fn visit_assign_pat(&mut self, _: &AssignPat) {}
    fn visit_class(&mut self, _: &Class) {}

    fn visit_assign_expr(&mut self, assigned: &AssignExpr) {
        let is_certain = assigned.op == AssignOp::Assign;
        if is_certain {
            assigned.visit_children_with(self);
        }
    }
}

/// The tool that a call is of, if the script names it.
fn called(script: &ParsedScript<'_>, call: &CallExpr) -> Option<String> {
    let Callee::Expr(callee) = &call.callee else {
        return None;
    };
    match script.api().resolve(script, callee)? {
        ApiReference::Tool { server, tool } => Some(format!("{server}:{tool}")),
        ApiReference::Name(name) if name == "callTool" => {
            let first = call.args.first().filter(|first| first.spread.is_none())?;
            literal::text(&first.expr)
        }
        _ => None,
    }
}
