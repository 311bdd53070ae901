//! Loops, whose bodies are evaluated once per item, or once for all items of a list that is not known.

use std::rc::Rc;

use pml_protocol::PrefetchValue;
use serde_json::Value as Json;
use swc_core::ecma::ast::{ForHead, ForOfStmt, ForStmt, Stmt, VarDeclOrExpr};

use super::analyzer::{Analyzer, Eval, Stop};
use super::quiet::assigned_names;
use super::scope::Scope;
use super::statements::Flow;
use super::value::Value;

/// The most rounds of a loop that are evaluated one by one.
const MAX_ROUNDS: usize = 64;

impl Analyzer {
    pub fn for_of<'a>(&mut self, stmt: &'a ForOfStmt, scope: &Rc<Scope<'a>>) -> Eval<Flow<'a>> {
        let ForHead::VarDecl(head) = &stmt.left else {
            return Err(Stop);
        };
        let [variable] = head.decls.as_slice() else {
            return Err(Stop);
        };
        if stmt.is_await {
            return Err(Stop);
        }
        let list = self.eval(&stmt.right, scope)?;
        if let Some(items) = known_items(&list) {
            if items.len() > MAX_ROUNDS {
                return Err(Stop);
            }
            for item in items {
                let inner = Scope::inside(scope);
                self.bind(&variable.name, item, &inner)?;
                match self.stmt(&stmt.body, &inner)? {
                    Flow::Next | Flow::Continue => {}
                    Flow::Break => break,
                    flow => return Ok(flow),
                }
            }
            return Ok(Flow::Next);
        }
        forget_assigned(&stmt.body, scope);
        match list {
            Value::Known(list) => self.each(list, |this, item| {
                let inner = Scope::inside(scope);
                this.bind(&variable.name, item, &inner)?;
                this.round(&stmt.body, &inner)
            })?,
            Value::Unknown | Value::List(_) => {
                let inner = Scope::inside(scope);
                self.bind(&variable.name, Value::Unknown, &inner)?;
                self.uncertainly(|this| this.round(&stmt.body, &inner))?;
            }
            _ => return Err(Stop),
        }
        forget_assigned(&stmt.body, scope);
        Ok(Flow::Next)
    }

    /// One round for all: a loop that can be left has an uncertain number of rounds.
    fn round<'a>(&mut self, body: &'a Stmt, scope: &Rc<Scope<'a>>) -> Eval<()> {
        match self.stmt(body, scope)? {
            Flow::Next | Flow::Continue => Ok(()),
            Flow::Break | Flow::Return(_) => Err(Stop),
        }
    }

    pub fn for_stmt<'a>(&mut self, stmt: &'a ForStmt, scope: &Rc<Scope<'a>>) -> Eval<Flow<'a>> {
        let scope = &Scope::inside(scope);
        match &stmt.init {
            Some(VarDeclOrExpr::VarDecl(variables)) => self.variables(variables, scope)?,
            Some(VarDeclOrExpr::Expr(expr)) => {
                self.eval(expr, scope)?;
            }
            None => {}
        }
        let test = stmt.test.as_ref().ok_or(Stop)?;
        for _ in 0..=MAX_ROUNDS {
            let test = self.eval(test, scope)?;
            match self.truth(&test) {
                Some(true) => {}
                Some(false) => return Ok(Flow::Next),
                None => return Err(Stop),
            }
            match self.stmt(&stmt.body, &Scope::inside(scope))? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                flow => return Ok(flow),
            }
            if let Some(update) = &stmt.update {
                self.eval(update, scope)?;
            }
        }
        Err(Stop)
    }
}

/// The items of a list, as far as it is known.
pub(super) fn known_items<'a>(list: &Value<'a>) -> Option<Vec<Value<'a>>> {
    match list {
        Value::Known(PrefetchValue::Json(Json::Array(items))) => {
            Some(items.iter().cloned().map(Value::json).collect())
        }
        Value::List(items) => items.borrow().clone(),
        _ => None,
    }
}

/// A variable that a round changes has another value in the next one.
fn forget_assigned(body: &Stmt, scope: &Rc<Scope<'_>>) {
    for name in assigned_names(body) {
        scope.set(&name, Value::Unknown);
    }
}
