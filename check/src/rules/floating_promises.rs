//! Tool calls that are not awaited.

use pml_script::api::{ApiKind, kind_of};
use pml_script::{ScriptResult, result_of};
use swc_core::common::{BytePos, Span, Spanned};
use swc_core::ecma::ast::{
    ArrowExpr, ArrowFunctionBody, CallExpr, Callee, ClassMember, Expr, ExprStmt, Function,
    GetterProp, MemberExpr, Pat, VarDeclarator,
};
use swc_core::ecma::visit::{Visit, VisitWith};

use crate::api_bindings::{ApiReference, property_name};
use crate::finding::{Finding, Rule};
use crate::literal;
use crate::parsed_script::ParsedScript;

/// Reports promises of the API that are dropped.
pub fn check(script: &ParsedScript<'_>) -> Vec<Finding> {
    // The worker awaits the script's result.
    let result = match result_of(&script.module) {
        ScriptResult::LastExpression(span) => vec![span],
        ScriptResult::Branches(spans) => spans,
        ScriptResult::DefaultExport | ScriptResult::EntryPoint(_) | ScriptResult::Nothing => {
            Vec::new()
        }
    };
    let mut visitor = Visitor {
        script,
        result,
        can_await: true,
        findings: Vec::new(),
    };
    script.module.visit_with(&mut visitor);
    visitor.findings
}

struct Visitor<'a, 'b> {
    script: &'a ParsedScript<'b>,
    /// The statements whose values are the result.
    result: Vec<Span>,
    /// Whether `await` is valid here: at the top level, and in async functions.
    can_await: bool,
    findings: Vec<Finding>,
}

impl Visitor<'_, '_> {
    /// The name of the function or tool if `expr` is a call that returns a promise.
    fn promise(&self, expr: &Expr) -> Option<String> {
        let Expr::Call(call) = literal::without_casts(expr) else {
            return None;
        };
        let Callee::Expr(callee) = &call.callee else {
            return None;
        };
        match self.script.api().resolve(self.script, callee)? {
            ApiReference::Name(name) if kind_of(&name) == Some(ApiKind::AsyncFunction) => {
                Some(name)
            }
            ApiReference::Tool { server, tool } => Some(format!("{server}:{tool}")),
            _ => None,
        }
    }

    /// The same, also behind `.then(f)` and `.finally(f)`, which do not handle a rejection.
    fn unhandled(&self, expr: &Expr) -> Option<String> {
        if let Some(name) = self.promise(expr) {
            return Some(name);
        }
        let Expr::Call(call) = literal::without_casts(expr) else {
            return None;
        };
        let Callee::Expr(callee) = &call.callee else {
            return None;
        };
        let Expr::Member(member) = literal::without_casts(callee) else {
            return None;
        };
        match (property_name(&member.prop).as_deref(), call.args.len()) {
            (Some("then"), 1) | (Some("finally"), _) => self.unhandled(&member.obj),
            _ => None,
        }
    }

    fn report(&mut self, span: Span, at: Span, name: &str) {
        let message = format!("`{name}` is not awaited: if it fails, the script does not notice");
        let mut finding = self.script.finding(Rule::FloatingPromise, span, message);
        let before = at.with_hi(at.lo);
        finding.fix = self
            .can_await
            .then(|| self.script.fix(before, "await ", "put `await` before it"));
        self.findings.push(finding);
    }

    fn inside(&mut self, is_async: bool, visit: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.can_await, is_async);
        visit(self);
        self.can_await = outside;
    }
}

impl Visit for Visitor<'_, '_> {
    fn visit_arrow_expr(&mut self, arrow: &ArrowExpr) {
        self.inside(arrow.is_async, |inside| arrow.visit_children_with(inside));
    }

    fn visit_function(&mut self, function: &Function) {
        self.inside(function.is_async, |inside| {
            function.visit_children_with(inside)
        });
    }

    fn visit_class_member(&mut self, member: &ClassMember) {
        self.inside(false, |inside| member.visit_children_with(inside));
    }

    fn visit_getter_prop(&mut self, getter: &GetterProp) {
        self.inside(false, |inside| getter.visit_children_with(inside));
    }

    fn visit_expr_stmt(&mut self, statement: &ExprStmt) {
        if !self.result.contains(&statement.span)
            && let Some(name) = self.unhandled(&statement.expr)
        {
            let span = statement.span.with_hi(statement_end(statement));
            self.report(span, statement.span, &name);
        }
        statement.visit_children_with(self);
    }

    /// `callTool(…).result`: a promise has no such property.
    fn visit_member_expr(&mut self, member: &MemberExpr) {
        if let Some(name) = self.promise(&member.obj)
            && let Some(wanted) = property_name(&member.prop)
            && !matches!(
                wanted.as_str(),
                "then" | "catch" | "finally" | "constructor" | "toString"
            )
        {
            let message =
                format!("`{name}` returns a promise, which has no `{wanted}`; await it first");
            let mut finding = self
                .script
                .finding(Rule::FloatingPromise, member.span, message);
            let call = member.obj.span();
            let awaited = format!("(await {})", self.script.text(call));
            finding.fix = self.can_await.then(|| {
                self.script
                    .fix(call, awaited, "put `await` before the call")
            });
            self.findings.push(finding);
        }
        member.visit_children_with(self);
    }

    /// `const { result } = callTool(…)`: the same as a pattern.
    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let (Pat::Object(_) | Pat::Array(_), Some(init)) = (&declarator.name, &declarator.init)
            && let Some(name) = self.promise(init)
        {
            let message = format!("`{name}` returns a promise; await it before you destructure it");
            let call = init.span();
            let mut finding = self.script.finding(Rule::FloatingPromise, call, message);
            finding.fix = self.can_await.then(|| {
                let before = call.with_hi(call.lo);
                self.script
                    .fix(before, "await ", "put `await` before the call")
            });
            self.findings.push(finding);
        }
        declarator.visit_children_with(self);
    }

    /// `list.forEach(async …)`: the promises of the function are dropped.
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Expr::Member(member) = literal::without_casts(callee)
            && property_name(&member.prop).as_deref() == Some("forEach")
            && let [only] = call.args.as_slice()
            && let Some(name) = self.called_inside(&only.expr)
        {
            let message = format!(
                "`forEach` does not wait for `{name}`; use `for (… of …)`, or `await Promise.all(list.map(…))`"
            );
            let finding = self
                .script
                .finding(Rule::FloatingPromise, call.span, message);
            self.findings.push(finding);
        }
        call.visit_children_with(self);
    }
}

impl Visitor<'_, '_> {
    /// The first tool that an async function calls, or whose promise an arrow function returns.
    fn called_inside(&self, function: &Expr) -> Option<String> {
        let mut awaited = FirstCall {
            visitor: self,
            name: None,
        };
        match literal::without_casts(function) {
            Expr::Arrow(ArrowExpr {
                is_async: true,
                body,
                ..
            }) => body.visit_with(&mut awaited),
            Expr::Arrow(ArrowExpr { body, .. }) => match &**body {
                ArrowFunctionBody::Expr(expr) => awaited.name = self.promise(expr),
                ArrowFunctionBody::FunctionBody(_) => {}
            },
            Expr::Fn(function) if function.function.is_async => {
                function.function.body.visit_with(&mut awaited);
            }
            _ => {}
        }
        awaited.name
    }
}

/// Finds the first call of a function.
struct FirstCall<'a, 'b, 'c> {
    visitor: &'a Visitor<'b, 'c>,
    name: Option<String>,
}

impl Visit for FirstCall<'_, '_, '_> {
    fn visit_expr(&mut self, expr: &Expr) {
        if self.name.is_none() {
            self.name = self.visitor.promise(expr);
            expr.visit_children_with(self);
        }
    }
}

/// The end of a statement without its semicolon.
fn statement_end(statement: &ExprStmt) -> BytePos {
    statement.expr.span().hi
}
