//! Properties and elements.

use std::rc::Rc;

use pml_protocol::PrefetchValue;
use serde_json::Value as Json;
use swc_core::ecma::ast::MemberProp;

use super::analyzer::{Analyzer, Eval, Stop};
use super::expressions::{put, text_of};
use super::scope::Scope;
use super::statements::api_value;
use super::value::{Global, Value};

/// What the language itself reads from functions, which are not names of tools.
const NOT_TOOLS: [&str; 8] = [
    "then", "toJSON", "call", "apply", "bind", "name", "length", "toString",
];

impl Analyzer {
    /// The key of a member expression; `None` if it is computed and not known.
    pub fn member_key<'a>(
        &mut self,
        property: &'a MemberProp,
        scope: &Rc<Scope<'a>>,
    ) -> Eval<Option<String>> {
        match property {
            MemberProp::Ident(name) => Ok(Some(name.sym.to_string())),
            MemberProp::Computed(computed) => {
                let value = self.eval(&computed.expr, scope)?;
                match value.is_data() {
                    true => Ok(text_of(&value)),
                    false => Err(Stop),
                }
            }
            MemberProp::PrivateName(_) => Err(Stop),
        }
    }

    pub fn member_at<'a>(
        &mut self,
        object: &Value<'a>,
        key: Option<&String>,
        is_optional: bool,
    ) -> Eval<Value<'a>> {
        if let Some(key) = key {
            return self.member(object, key, is_optional);
        }
        match object {
            Value::Known(_) | Value::Unknown | Value::List(_) | Value::Object(_)
                if object.is_data() =>
            {
                self.check_may_throw()?;
                Ok(Value::Unknown)
            }
            _ => Err(Stop),
        }
    }

    /// The value of a property.
    pub fn member<'a>(
        &mut self,
        object: &Value<'a>,
        key: &str,
        is_optional: bool,
    ) -> Eval<Value<'a>> {
        if matches!(key, "__proto__" | "constructor" | "prototype") {
            return Err(Stop);
        }
        match object {
            Value::Known(PrefetchValue::Json(json)) => json_member(json, key, is_optional),
            Value::Known(known) => {
                if !is_optional {
                    self.check_may_throw()?;
                }
                let of = Box::new(known.clone());
                match key.parse::<u32>() {
                    Ok(at) => self.known(PrefetchValue::At(of, at)),
                    // A list and a text have one, too.
                    Err(_) if key == "length" => Ok(Value::Unknown),
                    Err(_) => self.known(PrefetchValue::Get(of, key.to_owned())),
                }
            }
            Value::Unknown => {
                if !is_optional {
                    self.check_may_throw()?;
                }
                Ok(Value::Unknown)
            }
            Value::Answer(id) => Ok(match key {
                "result" => Value::Known(PrefetchValue::Result(*id)),
                "success" => Value::Succeeded,
                "error" => Value::Failed,
                _ => Value::Undefined,
            }),
            Value::List(items) => match (&*items.borrow(), key.parse::<usize>()) {
                (Some(items), Ok(at)) => Ok(items.get(at).cloned().unwrap_or(Value::Undefined)),
                (Some(items), Err(_)) if key == "length" => Ok(Value::number(items.len() as f64)),
                (None, _) => Ok(Value::Unknown),
                (Some(_), Err(_)) => Err(Stop),
            },
            Value::Object(fields) => Ok(fields
                .borrow()
                .iter()
                .find(|(known, _)| known == key)
                .map_or(Value::Undefined, |(_, value)| value.clone())),
            // The error of a call that did not fail.
            Value::Failed => Ok(Value::Unknown),
            Value::Undefined if is_optional => Ok(Value::Undefined),
            Value::Global(Global::Api) => match api_value(key) {
                Value::Unset => Err(Stop),
                value => Ok(value),
            },
            Value::Tools(path) if !NOT_TOOLS.contains(&key) => {
                let mut path = Vec::clone(path);
                path.push(key.to_owned());
                Ok(Value::Tools(Rc::new(path)))
            }
            _ => Err(Stop),
        }
    }

    /// An element of a list, for a pattern.
    pub fn element<'a>(&mut self, list: &Value<'a>, at: usize) -> Eval<Value<'a>> {
        match list {
            Value::Known(_) | Value::Unknown | Value::List(_) => {
                self.member(list, &at.to_string(), false)
            }
            _ => Err(Stop),
        }
    }

    /// Assigns to a property.
    pub fn set_member<'a>(
        &mut self,
        object: &Value<'a>,
        key: Option<String>,
        value: Value<'a>,
    ) -> Eval<Value<'a>> {
        let stored = self.assigned(value.clone());
        match (object, key) {
            (_, Some(key)) if matches!(&*key, "__proto__" | "constructor" | "prototype") => {
                return Err(Stop);
            }
            (Value::Object(fields), Some(key)) => put(&mut fields.borrow_mut(), key, stored),
            (Value::Object(fields), None) if value.is_data() => {
                let mut fields = fields.borrow_mut();
                fields
                    .iter_mut()
                    .for_each(|(_, value)| *value = Value::Unknown);
            }
            (Value::List(items), _) if value.is_data() => *items.borrow_mut() = None,
            // Data of a result. What is known of it is outdated now; a call with it is not taken.
            (Value::Known(_) | Value::Unknown, _) if value.is_data() => {}
            _ => return Err(Stop),
        }
        Ok(value)
    }
}

fn json_member<'a>(json: &Json, key: &str, is_optional: bool) -> Eval<Value<'a>> {
    let found = match json {
        Json::Object(fields) => fields.get(key),
        Json::Array(items) if key == "length" => return Ok(Value::number(items.len() as f64)),
        Json::Array(items) => match key.parse::<usize>() {
            Ok(at) => items.get(at),
            Err(_) => return Err(Stop),
        },
        Json::Null if !is_optional => return Err(Stop),
        Json::Null => None,
        _ => return Ok(Value::Unknown),
    };
    Ok(found.map_or(Value::Undefined, |value| Value::json(value.clone())))
}
