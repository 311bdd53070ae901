//! Globals that a script does not have: `fetch`, `process`, or a misspelled name.

use std::collections::HashSet;
use std::sync::LazyLock;

use pml_nearest::typo_of;
use pml_script::api::NAMES;
use swc_core::common::Span;
use swc_core::ecma::ast::{
    Callee, Expr, Ident, NewExpr, Prop, SimpleAssignTarget, TsExprWithTypeArgs, TsType, UnaryExpr,
    UnaryOp,
};
use swc_core::ecma::visit::{Visit, VisitWith};

use crate::finding::{Finding, Rule};
use crate::literal;
use crate::parsed_script::ParsedScript;

/// The globals of a script. An end-to-end test compares the list with a real isolate.
static GLOBALS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!("../../../tests/surface/globals.txt")
        .lines()
        .chain(["arguments"])
        .collect()
});

/// Reports globals that a script does not have.
pub fn check(script: &ParsedScript<'_>) -> Vec<Finding> {
    let mut visitor = Visitor {
        script,
        probed: HashSet::new(),
        found: Vec::new(),
        code_from_text: Vec::new(),
    };
    script.module.visit_with(&mut visitor);
    let mut findings: Vec<Finding> = visitor
        .found
        .iter()
        // After `typeof process`, the script knows that the global may be missing.
        .filter(|(name, _)| !visitor.probed.contains(name) && !script.api().is_replaced(name))
        .map(|(name, span)| finding(script, name, *span))
        .collect();
    findings.extend(visitor.code_from_text.iter().map(|span| {
        let message = "a script cannot compile code from text; write a function instead";
        script.finding(Rule::UnknownGlobal, *span, message)
    }));
    findings
}

fn finding(script: &ParsedScript<'_>, name: &str, span: Span) -> Finding {
    if let Some(advice) = advice(name) {
        let message = format!("a script has no `{name}`; {advice}");
        return script.finding(Rule::UnknownGlobal, span, message);
    }
    let meant = typo_of(name, NAMES).or_else(|| typo_of(name, GLOBALS.iter().copied()));
    let message = match meant {
        Some(meant) => format!("`{name}` is not defined; did you mean `{meant}`?"),
        None => format!("`{name}` is not defined: it is neither declared nor a global of scripts"),
    };
    let mut finding = script.finding(Rule::UnknownGlobal, span, message);
    finding.fix =
        meant.map(|meant| script.fix(span, meant, format!("replace `{name}` with `{meant}`")));
    finding
}

/// What to use instead of the globals of other platforms.
fn advice(name: &str) -> Option<&'static str> {
    Some(match name {
        "fetch" | "XMLHttpRequest" | "WebSocket" | "EventSource" | "Request" | "Response"
        | "Headers" => "call a tool that reaches the network, such as one of a fetch server",
        "process" | "Deno" | "Bun" => "its arguments are `args`, and everything else needs a tool",
        "require" | "module" | "exports" | "importScripts" => {
            "what it needs is global, or comes with `import { callTool } from \"pml\"`"
        }
        "__dirname" | "__filename" => "it has no path; pass paths as arguments",
        "Buffer" => "use Uint8Array, TextEncoder and TextDecoder, or atob and btoa",
        "global" => "write `globalThis`",
        "window"
        | "document"
        | "self"
        | "navigator"
        | "location"
        | "localStorage"
        | "sessionStorage"
        | "alert"
        | "prompt"
        | "confirm"
        | "requestAnimationFrame" => "there is no browser",
        "Worker" | "SharedArrayBuffer" => {
            "start tool calls together with Promise.all or callToolsBatch"
        }
        "setImmediate" => "write `setTimeout(f, 0)` or `queueMicrotask(f)`",
        "WebAssembly" => "it runs JavaScript only",
        "eval" => "it cannot compile code from text",
        _ => return None,
    })
}

struct Visitor<'a, 'b> {
    script: &'a ParsedScript<'b>,
    /// Names that the script tests with `typeof`.
    probed: HashSet<String>,
    found: Vec<(String, Span)>,
    code_from_text: Vec<Span>,
}

impl Visitor<'_, '_> {
    fn note(&mut self, ident: &Ident) {
        if self.script.is_global(ident) && !GLOBALS.contains(ident.sym.as_str()) {
            self.found.push((ident.sym.to_string(), ident.span));
        }
    }

    fn is_function(&self, callee: &Expr) -> bool {
        matches!(literal::without_casts(callee), Expr::Ident(name) if name.sym == "Function" && self.script.is_global(name))
    }
}

impl Visit for Visitor<'_, '_> {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Ident(ident) => self.note(ident),
            Expr::Call(call) => {
                if let Callee::Expr(callee) = &call.callee
                    && self.is_function(callee)
                {
                    self.code_from_text.push(call.span);
                }
            }
            _ => {}
        }
        expr.visit_children_with(self);
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        if self.is_function(&new.callee) {
            self.code_from_text.push(new.span);
        }
        new.visit_children_with(self);
    }

    fn visit_prop(&mut self, prop: &Prop) {
        if let Prop::Shorthand(ident) = prop {
            self.note(ident);
        }
        prop.visit_children_with(self);
    }

    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        if unary.op == UnaryOp::TypeOf
            && let Expr::Ident(ident) = literal::without_casts(&unary.arg)
        {
            self.probed.insert(ident.sym.to_string());
        }
        unary.visit_children_with(self);
    }

    /// `total = 0` without a `let` throws: scripts are strict.
    fn visit_simple_assign_target(&mut self, target: &SimpleAssignTarget) {
        if let SimpleAssignTarget::Ident(name) = target {
            self.note(&name.id);
        }
        target.visit_children_with(self);
    }

    /// Types are erased before a script runs.
    fn visit_ts_type(&mut self, _: &TsType) {}

    /// `extends` of an interface and `implements` of a class name types.
    fn visit_ts_expr_with_type_args(&mut self, _: &TsExprWithTypeArgs) {}
}
