//! Expressions, without calls and properties.

use std::rc::Rc;

use pml_protocol::PrefetchValue;
use serde_json::Value as Json;
use swc_core::ecma::ast::{
    ArrayLit, ArrowExpr, ArrowFunctionBody, AssignExpr, AssignOp, AssignTarget, BinExpr, BinaryOp,
    Expr, Lit, NewExpr, ObjectLit, OptChainBase, OptChainExpr, Prop, PropName, PropOrSpread,
    SimpleAssignTarget, Tpl, UnaryExpr, UnaryOp, UpdateExpr, UpdateOp,
};

use super::analyzer::{Analyzer, Eval, Stop};
use super::scope::Scope;
use super::statements::{api_value, closure_of};
use super::value::{Body, Closure, Global, Value};

/// The longest constant text that is put together.
const MAX_TEXT: usize = 16 * 1024;

impl Analyzer {
    pub fn eval<'a>(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        self.deeper(|this| this.eval_inside(expr, scope, false))
    }

    /// The value of an expression that is awaited at once.
    pub fn eval_awaited<'a>(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        let value = self.deeper(|this| this.eval_inside(expr, scope, true))?;
        match value {
            // The result of a script may be a function, or have promises in it.
            Value::Global(_) | Value::Tools(_) => Err(Stop),
            value => self.awaited(value),
        }
    }

    fn eval_inside<'a>(
        &mut self,
        expr: &'a Expr,
        scope: &Rc<Scope<'a>>,
        is_awaited: bool,
    ) -> Eval<Value<'a>> {
        match expr {
            Expr::Lit(literal) => self.literal(literal),
            Expr::Ident(name) => self.name(&name.sym, scope),
            Expr::Paren(inner) => self.eval_inside(&inner.expr, scope, is_awaited),
            Expr::TsAs(inner) => self.eval_inside(&inner.expr, scope, is_awaited),
            Expr::TsNonNull(inner) => self.eval_inside(&inner.expr, scope, is_awaited),
            Expr::TsConstAssertion(inner) => self.eval_inside(&inner.expr, scope, is_awaited),
            Expr::TsSatisfies(inner) => self.eval_inside(&inner.expr, scope, is_awaited),
            Expr::TsTypeAssertion(inner) => self.eval_inside(&inner.expr, scope, is_awaited),
            Expr::Await(awaited) => self.eval_awaited(&awaited.arg, scope),
            Expr::Call(call) => {
                let callee = call.callee.as_expr().ok_or(Stop)?;
                self.call_expr(callee, &call.args, scope, is_awaited)
            }
            Expr::Member(member) => {
                let object = self.eval(&member.obj, scope)?;
                let key = self.member_key(&member.prop, scope)?;
                self.member_at(&object, key.as_ref(), false)
            }
            Expr::OptChain(chain) => self.optional(chain, scope),
            Expr::Arrow(arrow_expr) => arrow(arrow_expr, scope),
            Expr::Fn(function) if function.ident.is_none() => closure_of(&function.function, scope),
            Expr::Tpl(template) => self.template(template, scope),
            Expr::Array(array) => self.array(array, scope),
            Expr::Object(object) => self.object(object, scope),
            Expr::Unary(unary) => self.unary(unary, scope),
            Expr::Bin(binary) => self.binary(binary, scope),
            Expr::Cond(choice) => {
                let test = self.eval(&choice.test, scope)?;
                match self.truth(&test) {
                    Some(true) => self.eval_inside(&choice.cons, scope, is_awaited),
                    Some(false) => self.eval_inside(&choice.alt, scope, is_awaited),
                    None => {
                        self.unused(&choice.cons, scope)?;
                        self.unused(&choice.alt, scope)?;
                        Ok(Value::Unknown)
                    }
                }
            }
            Expr::Assign(assign) => self.assign(assign, scope),
            Expr::Update(update) => self.update(update, scope),
            Expr::Seq(list) => {
                let mut last = Value::Undefined;
                for expr in &list.exprs {
                    last = self.eval(expr, scope)?;
                }
                Ok(last)
            }
            Expr::New(new) => self.new_expr(new, scope),
            _ => Err(Stop),
        }
    }

    /// An expression that may not be evaluated, and whose value is not known then.
    fn unused<'a>(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> Eval<()> {
        match self.uncertainly(|this| this.eval(expr, scope))? {
            value if value.is_data() => Ok(()),
            _ => Err(Stop),
        }
    }

    fn literal<'a>(&self, literal: &Lit) -> Eval<Value<'a>> {
        Ok(match literal {
            Lit::Str(text) => Value::json(text.value.as_str().ok_or(Stop)?),
            Lit::Bool(flag) => Value::json(flag.value),
            Lit::Null(_) => Value::json(Json::Null),
            Lit::Num(number) => Value::number(number.value),
            Lit::BigInt(_) | Lit::Regex(_) => Value::Unknown,
            Lit::JSXText(_) => return Err(Stop),
        })
    }

    fn name<'a>(&mut self, name: &swc_core::atoms::Atom, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        if let Some(value) = scope.get(name) {
            return match value {
                Value::Unset => Err(Stop),
                value => Ok(value),
            };
        }
        match &**name {
            "undefined" => Ok(Value::Undefined),
            "NaN" | "Infinity" => Ok(Value::Unknown),
            "args" => Ok(Value::json(self.args.clone())),
            "tools" => Ok(api_value("tools")),
            name => Global::named(name).map(Value::Global).ok_or(Stop),
        }
    }

    fn optional<'a>(&mut self, chain: &'a OptChainExpr, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        match &*chain.base {
            OptChainBase::Member(member) => {
                let object = self.eval(&member.obj, scope)?;
                let key = self.member_key(&member.prop, scope)?;
                self.member_at(&object, key.as_ref(), true)
            }
            OptChainBase::Call(call) => self.call_expr(&call.callee, &call.args, scope, false),
        }
    }

    fn template<'a>(&mut self, template: &'a Tpl, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        let mut parts = Vec::new();
        let mut is_known = true;
        for (at, quasi) in template.quasis.iter().enumerate() {
            let text = quasi
                .cooked
                .as_ref()
                .and_then(|text| text.as_str())
                .ok_or(Stop)?;
            add_text(&mut parts, text);
            let Some(expr) = template.exprs.get(at) else {
                continue;
            };
            let value = self.eval(expr, scope)?;
            match text_of(&value) {
                Some(text) => add_text(&mut parts, &text),
                None => match value {
                    Value::Known(PrefetchValue::Json(_)) => is_known = false,
                    Value::Known(known) => parts.push(known),
                    value if value.is_data() => is_known = false,
                    _ => return Err(Stop),
                },
            }
        }
        match parts.as_slice() {
            _ if !is_known => Ok(Value::Unknown),
            [] => Ok(Value::json("")),
            [PrefetchValue::Json(Json::String(text))] if text.len() <= MAX_TEXT => {
                Ok(Value::json(text.as_str()))
            }
            [PrefetchValue::Json(Json::String(_))] => Ok(Value::Unknown),
            _ => self.known(PrefetchValue::Text(parts)),
        }
    }

    fn array<'a>(&mut self, array: &'a ArrayLit, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        let mut items = Some(Vec::new());
        for item in &array.elems {
            let Some(item) = item else {
                items = None;
                continue;
            };
            let value = self.eval(&item.expr, scope)?;
            if item.spread.is_none() {
                if let Some(items) = &mut items {
                    items.push(value);
                }
                continue;
            }
            let spread = match &value {
                Value::List(list) => list.borrow().clone(),
                Value::Known(PrefetchValue::Json(Json::Array(list))) => {
                    Some(list.iter().cloned().map(Value::json).collect())
                }
                Value::Known(_) | Value::Unknown => {
                    self.check_may_throw()?;
                    None
                }
                _ => return Err(Stop),
            };
            self.spend(spread.as_ref().map_or(0, Vec::len))?;
            items = items.zip(spread).map(|(mut items, spread)| {
                items.extend(spread);
                items
            });
        }
        Ok(Value::List(Rc::new(std::cell::RefCell::new(items))))
    }

    fn object<'a>(&mut self, object: &'a ObjectLit, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        let mut fields: Vec<(String, Value<'a>)> = Vec::new();
        let mut is_known = true;
        for property in &object.props {
            let (key, value) = match property {
                PropOrSpread::Spread(spread) => {
                    match self.eval(&spread.expr, scope)? {
                        Value::Object(inner) => {
                            let inner = inner.borrow().clone();
                            inner
                                .into_iter()
                                .for_each(|(key, value)| put(&mut fields, key, value));
                        }
                        Value::Known(PrefetchValue::Json(Json::Object(inner))) => inner
                            .into_iter()
                            .for_each(|(key, value)| put(&mut fields, key, Value::json(value))),
                        Value::Undefined => {}
                        Value::Known(_) | Value::Unknown => is_known = false,
                        _ => return Err(Stop),
                    }
                    continue;
                }
                PropOrSpread::Prop(property) => match &**property {
                    Prop::Shorthand(name) => {
                        (Some(name.sym.to_string()), self.name(&name.sym, scope)?)
                    }
                    Prop::KeyValue(property) => {
                        let key = self.property_name(&property.key, scope)?;
                        (key, self.eval(&property.value, scope)?)
                    }
                    Prop::Method(method) => {
                        let key = self.property_name(&method.key, scope)?;
                        (key, closure_of(&method.function, scope)?)
                    }
                    Prop::Getter(_) | Prop::Setter(_) | Prop::Assign(_) => return Err(Stop),
                },
            };
            match key {
                Some(key) if key == "__proto__" => return Err(Stop),
                Some(key) => put(&mut fields, key, value),
                None if value.is_data() => is_known = false,
                None => return Err(Stop),
            }
        }
        let object = Value::object(fields);
        match is_known {
            true => Ok(object),
            false if object.is_data() => Ok(Value::Unknown),
            false => Err(Stop),
        }
    }

    /// The key of a property; `None` if it is computed and not known.
    pub fn property_name<'a>(
        &mut self,
        name: &'a PropName,
        scope: &Rc<Scope<'a>>,
    ) -> Eval<Option<String>> {
        Ok(match name {
            PropName::Ident(name) => Some(name.sym.to_string()),
            PropName::Str(text) => Some(text.value.as_str().ok_or(Stop)?.to_owned()),
            PropName::Num(number) => text_of(&Value::number(number.value)),
            PropName::Computed(computed) => {
                let value = self.eval(&computed.expr, scope)?;
                match value.is_data() {
                    true => text_of(&value),
                    false => return Err(Stop),
                }
            }
            PropName::BigInt(_) => return Err(Stop),
        })
    }

    fn unary<'a>(&mut self, unary: &'a UnaryExpr, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        let value = self.eval(&unary.arg, scope)?;
        Ok(match unary.op {
            UnaryOp::Bang => match (&value, self.truth(&value)) {
                (Value::Failed, _) => Value::Succeeded,
                (Value::Succeeded, _) => Value::Failed,
                (_, Some(truth)) => Value::json(!truth),
                (_, None) => Value::Unknown,
            },
            UnaryOp::Void => Value::Undefined,
            UnaryOp::TypeOf => Value::Unknown,
            UnaryOp::Delete => return Err(Stop),
            UnaryOp::Minus => match value.constant().and_then(Json::as_f64) {
                Some(number) => Value::number(-number),
                None if value.is_data() => Value::Unknown,
                None => return Err(Stop),
            },
            UnaryOp::Plus | UnaryOp::Tilde if value.is_data() => Value::Unknown,
            UnaryOp::Plus | UnaryOp::Tilde => return Err(Stop),
        })
    }

    fn binary<'a>(&mut self, binary: &'a BinExpr, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        let left = self.eval(&binary.left, scope)?;
        if matches!(
            binary.op,
            BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::NullishCoalescing
        ) {
            return self.logical(binary, left, scope);
        }
        let right = self.eval(&binary.right, scope)?;
        if !left.is_data() || !right.is_data() {
            return Err(Stop);
        }
        Ok(
            folded(binary.op, &left, &right).unwrap_or_else(|| match binary.op {
                BinaryOp::Add => concatenated(&left, &right),
                _ => Value::Unknown,
            }),
        )
    }

    fn logical<'a>(
        &mut self,
        binary: &'a BinExpr,
        left: Value<'a>,
        scope: &Rc<Scope<'a>>,
    ) -> Eval<Value<'a>> {
        let decided = match binary.op {
            BinaryOp::LogicalAnd => self.truth(&left),
            BinaryOp::LogicalOr => self.truth(&left).map(|truth| !truth),
            _ => match &left {
                Value::Undefined => Some(true),
                Value::Unknown => None,
                Value::Known(PrefetchValue::Json(json)) => Some(json.is_null()),
                Value::Known(_) => None,
                _ => Some(false),
            },
        };
        match decided {
            Some(true) => self.eval(&binary.right, scope),
            Some(false) => Ok(left),
            None => {
                self.unused(&binary.right, scope)?;
                // `result.files ?? []`: a default is rarely used, and is foreseen never.
                match (binary.op, left) {
                    (BinaryOp::LogicalAnd, _) => Ok(Value::Unknown),
                    (_, left) => Ok(left),
                }
            }
        }
    }

    /// Whether a value is true; `None` if that is not known.
    pub fn truth(&self, value: &Value<'_>) -> Option<bool> {
        match value {
            Value::Known(PrefetchValue::Json(json)) => Some(match json {
                Json::Null => false,
                Json::Bool(flag) => *flag,
                Json::Number(number) => number.as_f64() != Some(0.0),
                Json::String(text) => !text.is_empty(),
                Json::Array(_) | Json::Object(_) => true,
            }),
            Value::Undefined | Value::Failed => Some(false),
            Value::Known(_) | Value::Unknown | Value::Unset => None,
            _ => Some(true),
        }
    }

    fn assign<'a>(&mut self, assign: &'a AssignExpr, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        self.check_may_change()?;
        let AssignTarget::Simple(target) = &assign.left else {
            return Err(Stop);
        };
        match target {
            SimpleAssignTarget::Ident(name) => {
                let old = self.name(&name.id.sym, scope).unwrap_or(Value::Unknown);
                let right = self.eval(&assign.right, scope)?;
                let value = match assign.op {
                    AssignOp::Assign => right,
                    _ if !old.is_data() || !right.is_data() => return Err(Stop),
                    AssignOp::AddAssign => folded(BinaryOp::Add, &old, &right)
                        .unwrap_or_else(|| concatenated(&old, &right)),
                    _ => Value::Unknown,
                };
                let value = self.assigned(value);
                match scope.set(&name.id.sym, value.clone()) {
                    true => Ok(value),
                    false => Err(Stop),
                }
            }
            SimpleAssignTarget::Member(member) => {
                let object = self.eval(&member.obj, scope)?;
                let key = self.member_key(&member.prop, scope)?;
                let right = self.eval(&assign.right, scope)?;
                let right = match assign.op {
                    AssignOp::Assign => right,
                    _ => Value::Unknown,
                };
                self.set_member(&object, key, right)
            }
            _ => Err(Stop),
        }
    }

    fn update<'a>(&mut self, update: &'a UpdateExpr, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        self.check_may_change()?;
        let Some(name) = update.arg.as_ident() else {
            let member = update.arg.as_member().ok_or(Stop)?;
            let object = self.eval(&member.obj, scope)?;
            let key = self.member_key(&member.prop, scope)?;
            return self.set_member(&object, key, Value::Unknown);
        };
        let old = self.name(&name.sym, scope)?;
        let step = match update.op {
            UpdateOp::PlusPlus => 1.0,
            UpdateOp::MinusMinus => -1.0,
        };
        let new = match old.constant().and_then(Json::as_f64) {
            Some(number) => Value::number(number + step),
            None => Value::Unknown,
        };
        scope.set(&name.sym, self.assigned(new));
        Ok(Value::Unknown)
    }

    fn new_expr<'a>(&mut self, new: &'a NewExpr, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
        let name = new.callee.as_ident().ok_or(Stop)?;
        let is_data = matches!(
            &*name.sym,
            "Set" | "Map" | "URL" | "URLSearchParams" | "Error" | "TypeError" | "RangeError"
        );
        if !is_data || scope.get(&name.sym).is_some() {
            return Err(Stop);
        }
        self.check_may_throw()?;
        for argument in new.args.iter().flatten() {
            if !self.eval(&argument.expr, scope)?.is_data() {
                return Err(Stop);
            }
        }
        Ok(Value::Unknown)
    }
}

pub(super) fn arrow<'a>(arrow: &'a ArrowExpr, scope: &Rc<Scope<'a>>) -> Eval<Value<'a>> {
    let body = match &*arrow.body {
        ArrowFunctionBody::Expr(expr) => Body::Expr(expr),
        ArrowFunctionBody::FunctionBody(body) => Body::Stmts(&body.stmts),
    };
    Ok(Value::Function(Rc::new(Closure {
        params: arrow.params.iter().collect(),
        body,
        is_async: arrow.is_async,
        scope: scope.clone(),
    })))
}

/// Sets a field, of which there is one per key.
pub(super) fn put<'a>(fields: &mut Vec<(String, Value<'a>)>, key: String, value: Value<'a>) {
    match fields.iter_mut().find(|(known, _)| *known == key) {
        Some((_, place)) => *place = value,
        None => fields.push((key, value)),
    }
}

/// A constant as text; `None` if it is none, or if its text is not obvious.
pub(super) fn text_of(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Undefined => Some("undefined".to_owned()),
        value => match value.constant()? {
            Json::String(text) => Some(text.clone()),
            Json::Bool(flag) => Some(flag.to_string()),
            Json::Null => Some("null".to_owned()),
            Json::Number(number) if number.is_i64() => Some(number.to_string()),
            _ => None,
        },
    }
}

fn add_text(parts: &mut Vec<PrefetchValue>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(PrefetchValue::Json(Json::String(last))) => last.push_str(text),
        _ => parts.push(PrefetchValue::Json(text.into())),
    }
}

/// A binary expression of constants.
fn folded<'a>(op: BinaryOp, left: &Value<'_>, right: &Value<'_>) -> Option<Value<'a>> {
    let (left, right) = (left.constant()?, right.constant()?);
    if let (Json::String(left), Json::String(right)) = (left, right) {
        return Some(match op {
            BinaryOp::Add if left.len() + right.len() <= MAX_TEXT => {
                Value::json(format!("{left}{right}"))
            }
            BinaryOp::EqEq | BinaryOp::EqEqEq => Value::json(left == right),
            BinaryOp::NotEq | BinaryOp::NotEqEq => Value::json(left != right),
            _ => return None,
        });
    }
    let (left, right) = (left.as_f64()?, right.as_f64()?);
    Some(match op {
        BinaryOp::Add => Value::number(left + right),
        BinaryOp::Sub => Value::number(left - right),
        BinaryOp::Mul => Value::number(left * right),
        BinaryOp::Div => Value::number(left / right),
        BinaryOp::Mod => Value::number(left % right),
        BinaryOp::Lt => Value::json(left < right),
        BinaryOp::LtEq => Value::json(left <= right),
        BinaryOp::Gt => Value::json(left > right),
        BinaryOp::GtEq => Value::json(left >= right),
        BinaryOp::EqEq | BinaryOp::EqEqEq => Value::json(left == right),
        BinaryOp::NotEq | BinaryOp::NotEqEq => Value::json(left != right),
        _ => return None,
    })
}

/// A text and something that is not known yet: `"docs/" + name`.
fn concatenated<'a>(left: &Value<'a>, right: &Value<'a>) -> Value<'a> {
    let is_text = |value: &Value<'_>| {
        matches!(
            value,
            Value::Known(PrefetchValue::Json(Json::String(_)) | PrefetchValue::Text(_))
        )
    };
    if !is_text(left) && !is_text(right) {
        return Value::Unknown;
    }
    let mut parts = Vec::new();
    for side in [left, right] {
        match (text_of(side), side) {
            (Some(text), _) => add_text(&mut parts, &text),
            (None, Value::Known(PrefetchValue::Json(_))) => return Value::Unknown,
            (None, Value::Known(PrefetchValue::Text(known))) => parts.extend(known.iter().cloned()),
            (None, Value::Known(known)) => parts.push(known.clone()),
            _ => return Value::Unknown,
        }
    }
    match parts.len() {
        0..=32 => Value::Known(PrefetchValue::Text(parts)),
        _ => Value::Unknown,
    }
}
