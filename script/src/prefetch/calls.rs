//! Calls: of tools, of functions of the script, and of globals.

use std::rc::Rc;

use pml_protocol::PrefetchValue;
use swc_core::ecma::ast::{Expr, ExprOrSpread};

use super::analyzer::{Analyzer, Eval, Stop};
use super::scope::Scope;
use super::statements::Flow;
use super::value::{Body, Closure, Global, Promised, Value};

impl Analyzer {
    pub fn call_expr<'a>(
        &mut self,
        callee: &'a Expr,
        args: &'a [ExprOrSpread],
        scope: &Rc<Scope<'a>>,
        is_awaited: bool,
    ) -> Eval<Value<'a>> {
        let mut callee = callee;
        while let Expr::Paren(inner) = callee {
            callee = &inner.expr;
        }
        if let Expr::Member(member) = callee {
            let object = self.eval(&member.obj, scope)?;
            let key = self.member_key(&member.prop, scope)?.ok_or(Stop)?;
            let args = self.arguments(args, scope)?;
            return self.method(&object, &key, args, is_awaited);
        }
        let function = self.eval(callee, scope)?;
        let args = self.arguments(args, scope)?;
        self.call_value(&function, args, is_awaited)
    }

    fn arguments<'a>(
        &mut self,
        args: &'a [ExprOrSpread],
        scope: &Rc<Scope<'a>>,
    ) -> Eval<Vec<Value<'a>>> {
        let value = |arg: &'a ExprOrSpread| match arg.spread {
            Some(_) => Err(Stop),
            None => self.eval(&arg.expr, scope),
        };
        args.iter().map(value).collect()
    }

    pub fn call_value<'a>(
        &mut self,
        function: &Value<'a>,
        args: Vec<Value<'a>>,
        is_awaited: bool,
    ) -> Eval<Value<'a>> {
        match function {
            Value::Function(function) => self.call_closure(function, args, is_awaited),
            Value::Tools(path) => self.call_tool_of(path, args.first()),
            Value::Global(Global::CallTool) => self.call_tool(&args),
            Value::Global(Global::CallToolsBatch) => self.call_batch(&args),
            Value::Global(Global::Load) => self.call_load(&args),
            Value::Global(Global::Convert) => self.converted(&args),
            _ => Err(Stop),
        }
    }

    /// Data of data: a function that has no effect.
    pub fn converted<'a>(&mut self, args: &[Value<'a>]) -> Eval<Value<'a>> {
        self.check_may_throw()?;
        match args.iter().all(Value::is_data) {
            true => Ok(Value::Unknown),
            false => Err(Stop),
        }
    }

    /// `tools.server.tool(args)`.
    fn call_tool_of<'a>(&mut self, path: &[String], args: Option<&Value<'a>>) -> Eval<Value<'a>> {
        let id = match path {
            [id] if id.contains(':') => id.clone(),
            [server, tool @ ..] if !tool.is_empty() => format!("{server}:{}", tool.join(".")),
            _ => return Err(Stop),
        };
        let id = self.call_with(&id, args)?;
        Ok(promise(Value::Known(PrefetchValue::Result(id)), vec![id]))
    }

    /// `callTool(id, args)`.
    fn call_tool<'a>(&mut self, args: &[Value<'a>]) -> Eval<Value<'a>> {
        let [tool, input @ ..] = args else {
            return Err(Stop);
        };
        if input.len() > 1 {
            return Err(Stop);
        }
        let tool = tool.text().ok_or(Stop)?.to_owned();
        let id = self.call_with(&tool, input.first())?;
        Ok(promise(Value::Answer(id), vec![id]))
    }

    fn call_with(&mut self, tool: &str, args: Option<&Value<'_>>) -> Eval<u32> {
        let args = match args {
            None | Some(Value::Undefined) => Some(PrefetchValue::Json(serde_json::json!({}))),
            Some(args) if args.constant().is_some_and(serde_json::Value::is_null) => {
                Some(PrefetchValue::Json(serde_json::json!({})))
            }
            // Not an object: the call fails before it is sent.
            Some(args) if args.constant().is_some_and(|args| !args.is_object()) => {
                return Err(Stop);
            }
            Some(args @ (Value::Known(_) | Value::Object(_) | Value::Unknown)) => args.to_known(),
            Some(_) => return Err(Stop),
        };
        self.call(tool, args)
    }

    /// `callToolsBatch([{ tool, args }, …])`, without options.
    fn call_batch<'a>(&mut self, args: &[Value<'a>]) -> Eval<Value<'a>> {
        let [Value::List(calls)] = args else {
            return Err(Stop);
        };
        let calls = calls.borrow().clone().ok_or(Stop)?;
        let first = self.next_id();
        let mut answers = Vec::new();
        for call in &calls {
            let Value::Object(_) = call else {
                return Err(Stop);
            };
            let tool = self.member(call, "tool", false)?;
            let args = self.member(call, "args", false)?;
            let tool = tool.text().ok_or(Stop)?.to_owned();
            answers.push(Value::Answer(self.call_with(&tool, Some(&args))?));
        }
        let calls = (first..self.next_id()).collect();
        Ok(promise(Value::list(answers), calls))
    }

    fn call_load<'a>(&mut self, args: &[Value<'a>]) -> Eval<Value<'a>> {
        let [key] = args else { return Err(Stop) };
        if self.uncertain > 0 {
            return Err(Stop);
        }
        let key = key.text().ok_or(Stop)?.to_owned();
        let id = self.load(&key)?;
        Ok(promise(Value::Known(PrefetchValue::Result(id)), vec![id]))
    }

    pub fn call_closure<'a>(
        &mut self,
        function: &Rc<Closure<'a>>,
        args: Vec<Value<'a>>,
        is_awaited: bool,
    ) -> Eval<Value<'a>> {
        self.inner_calls += 1;
        let value = match function.is_async && !(is_awaited && self.concurrent == 0) {
            true => self.call_concurrently(function, args),
            false => self.apply(function, args),
        };
        self.inner_calls -= 1;
        value
    }

    /// A call of an async function that is not awaited at once.
    fn call_concurrently<'a>(
        &mut self,
        function: &Rc<Closure<'a>>,
        args: Vec<Value<'a>>,
    ) -> Eval<Value<'a>> {
        let first = self.next_id();
        self.concurrent += 1;
        let value = self.apply(function, args);
        self.concurrent -= 1;
        let calls: Vec<u32> = (first..self.next_id()).collect();
        Ok(match value? {
            Value::Promise(inner) => {
                let calls = calls.iter().chain(&inner.calls).copied().collect();
                promise(inner.value.clone(), calls)
            }
            value => promise(value, calls),
        })
    }

    /// The value that a function returns.
    pub fn apply<'a>(
        &mut self,
        function: &Rc<Closure<'a>>,
        args: Vec<Value<'a>>,
    ) -> Eval<Value<'a>> {
        self.deeper(|this| {
            let scope = Scope::inside(&function.scope);
            let mut args = args.into_iter();
            for parameter in &function.params {
                let value = match parameter.is_rest() {
                    true => Value::Unknown,
                    false => args.next().unwrap_or(Value::Undefined),
                };
                this.bind(parameter, value, &scope)?;
            }
            match function.body {
                Body::Expr(expr) if function.is_async && this.concurrent == 0 => {
                    this.eval_awaited(expr, &scope)
                }
                Body::Expr(expr) => this.eval(expr, &scope),
                Body::Stmts(stmts) => match this.block(stmts, &scope)? {
                    Flow::Return(value) => Ok(value),
                    Flow::Next => Ok(Value::Undefined),
                    Flow::Break | Flow::Continue => Err(Stop),
                },
            }
        })
    }
}

pub(super) fn promise(value: Value<'_>, calls: Vec<u32>) -> Value<'_> {
    Value::Promise(Rc::new(Promised { value, calls }))
}
