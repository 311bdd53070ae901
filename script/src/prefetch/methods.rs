//! Methods of arrays, promises, texts and globals.

use std::rc::Rc;

use pml_protocol::PrefetchValue;
use serde_json::Value as Json;

use super::analyzer::{Analyzer, Eval, Stop};
use super::calls::promise;
use super::loops::known_items;
use super::value::{Closure, Global, Value};

/// The most items of a constant list whose callbacks are evaluated.
const MAX_ITEMS: usize = 64;

/// Methods of texts and lists that return data and change nothing.
const READING: [&str; 38] = [
    "at",
    "charAt",
    "charCodeAt",
    "concat",
    "endsWith",
    "entries",
    "filter",
    "find",
    "findIndex",
    "findLast",
    "flat",
    "flatMap",
    "get",
    "has",
    "includes",
    "indexOf",
    "join",
    "keys",
    "lastIndexOf",
    "localeCompare",
    "map",
    "match",
    "padEnd",
    "padStart",
    "reduce",
    "repeat",
    "replace",
    "replaceAll",
    "slice",
    "some",
    "every",
    "split",
    "startsWith",
    "substring",
    "toFixed",
    "toLowerCase",
    "toUpperCase",
    "trim",
];

impl Analyzer {
    pub fn method<'a>(
        &mut self,
        object: &Value<'a>,
        name: &str,
        args: Vec<Value<'a>>,
        is_awaited: bool,
    ) -> Eval<Value<'a>> {
        match object {
            Value::Tools(_) | Value::Global(Global::Api) => {
                let function = self.member(object, name, false)?;
                self.call_value(&function, args, is_awaited)
            }
            Value::Global(global) => self.global_method(*global, name, &args),
            Value::Promise(promised) if name == "then" => match args.as_slice() {
                // The callback runs when the answer comes.
                [Value::Function(function)] => {
                    let callback = Rc::new(Closure {
                        params: function.params.clone(),
                        body: function.body,
                        is_async: true,
                        scope: function.scope.clone(),
                    });
                    let value = vec![promised.value.clone()];
                    let Value::Promise(then) = self.call_closure(&callback, value, false)? else {
                        return Err(Stop);
                    };
                    let calls = promised.calls.iter().chain(&then.calls).copied().collect();
                    Ok(promise(then.value.clone(), calls))
                }
                _ => Err(Stop),
            },
            Value::Object(_) => match self.member(object, name, false)? {
                function @ Value::Function(_) => self.call_value(&function, args, is_awaited),
                _ => Err(Stop),
            },
            Value::List(items) if name == "push" => {
                self.check_may_change()?;
                match self.uncertain + self.looping {
                    0 => {
                        if let Some(items) = &mut *items.borrow_mut() {
                            items.extend(args);
                        }
                    }
                    // Promises that are not known would be lost from sight.
                    _ if args.iter().all(Value::is_data) => *items.borrow_mut() = None,
                    _ => return Err(Stop),
                }
                Ok(Value::Unknown)
            }
            Value::List(_) | Value::Known(_) | Value::Unknown => {
                self.data_method(object, name, args)
            }
            _ => Err(Stop),
        }
    }

    fn data_method<'a>(
        &mut self,
        object: &Value<'a>,
        name: &str,
        args: Vec<Value<'a>>,
    ) -> Eval<Value<'a>> {
        if let [Value::Function(callback), rest @ ..] = args.as_slice() {
            let is_data = rest.iter().all(Value::is_data);
            return match name {
                "map" | "forEach" if is_data => self.for_each(object, name == "map", callback),
                _ if is_data && object.is_data() && is_reading(name) => {
                    self.check_may_throw()?;
                    // How often it runs is not known; what it calls is.
                    let unknown = vec![Value::Unknown; callback.params.len()];
                    let value =
                        self.uncertainly(|this| this.call_closure(callback, unknown, false))?;
                    match value.is_data() {
                        true => Ok(Value::Unknown),
                        false => Err(Stop),
                    }
                }
                _ => Err(Stop),
            };
        }
        if !args.iter().all(Value::is_data) {
            return Err(Stop);
        }
        match (name, object) {
            ("push", _) => {
                self.check_may_change()?;
                Ok(Value::Unknown)
            }
            ("slice", _) if matches!(args.len(), 1 | 2) => self.slice(object, &args),
            ("split", Value::Known(PrefetchValue::Json(Json::String(text)))) => {
                Ok(match args.first().and_then(Value::text) {
                    Some(by) if !by.is_empty() && args.len() == 1 => {
                        let parts: Vec<Json> = text.split(by).map(Json::from).collect();
                        Value::json(parts)
                    }
                    _ => Value::Unknown,
                })
            }
            (name, _) if is_reading(name) && object.is_data() => {
                self.check_may_throw()?;
                Ok(Value::Unknown)
            }
            _ => Err(Stop),
        }
    }

    fn slice<'a>(&mut self, object: &Value<'a>, bounds: &[Value<'a>]) -> Eval<Value<'a>> {
        let place = |bound: &Value<'_>| {
            let place = bound.constant().and_then(Json::as_u64);
            place.and_then(|place| u32::try_from(place).ok())
        };
        let (begin, end) = (place(&bounds[0]), bounds.get(1).map(place));
        let (Some(begin), false) = (begin, end == Some(None)) else {
            return match object.is_data() {
                true => Ok(Value::Unknown),
                false => Err(Stop),
            };
        };
        let end = end.flatten();
        if let Some(items) = known_items(object) {
            let end = end.map_or(items.len(), |end| (end as usize).min(items.len()));
            let begin = (begin as usize).min(end);
            return Ok(Value::list(items[begin..end].to_vec()));
        }
        match object {
            Value::Known(PrefetchValue::Json(_)) | Value::Unknown | Value::List(_) => {
                Ok(Value::Unknown)
            }
            Value::Known(known) => {
                self.check_may_throw()?;
                self.known(PrefetchValue::Slice(Box::new(known.clone()), begin, end))
            }
            _ => Err(Stop),
        }
    }

    /// `list.map(callback)` and `list.forEach(callback)`.
    fn for_each<'a>(
        &mut self,
        list: &Value<'a>,
        is_map: bool,
        callback: &Rc<Closure<'a>>,
    ) -> Eval<Value<'a>> {
        if let Some(items) = known_items(list) {
            if items.len() > MAX_ITEMS {
                return Err(Stop);
            }
            let mut values = Vec::new();
            for (at, item) in items.into_iter().enumerate() {
                let args = vec![item, Value::number(at as f64)];
                values.push(self.call_closure(callback, args, false)?);
            }
            return Ok(match is_map {
                true => Value::list(values),
                false => Value::Undefined,
            });
        }
        let first = self.next_id();
        let value = match list {
            Value::Known(
                known @ (PrefetchValue::Result(_)
                | PrefetchValue::Item(_)
                | PrefetchValue::Get(..)
                | PrefetchValue::At(..)
                | PrefetchValue::Slice(..)),
            ) => self.each(known.clone(), |this, item| {
                this.call_closure(callback, vec![item, Value::Unknown], false)
            })?,
            Value::Unknown | Value::List(_) => self.uncertainly(|this| {
                this.call_closure(callback, vec![Value::Unknown, Value::Unknown], false)
            })?,
            _ => return Err(Stop),
        };
        match value {
            Value::Promise(_) => Ok(Value::Promises(Rc::new((first..self.next_id()).collect()))),
            value if value.is_data() => Ok(Value::Unknown),
            _ => Err(Stop),
        }
    }

    fn global_method<'a>(
        &mut self,
        global: Global,
        name: &str,
        args: &[Value<'a>],
    ) -> Eval<Value<'a>> {
        match (global, name) {
            (Global::Promise, "all" | "allSettled") => self.all(name == "all", args),
            (Global::Promise, "resolve") => match args {
                [] => Ok(promise(Value::Undefined, Vec::new())),
                [value @ Value::Promise(_)] => Ok(value.clone()),
                [value] if value.is_data() => Ok(promise(value.clone(), Vec::new())),
                _ => Err(Stop),
            },
            // The order of the lines is a part of the outcome.
            (Global::Console, "log" | "info" | "warn" | "error" | "debug") => {
                self.check_may_change()?;
                match args.iter().all(Value::is_data) {
                    true => Ok(Value::Undefined),
                    false => Err(Stop),
                }
            }
            (Global::Object, "keys" | "values" | "entries") => self.fields(name, args),
            (Global::Object, "freeze") => match args {
                [value] if value.is_data() => Ok(value.clone()),
                _ => Err(Stop),
            },
            (Global::Json, "parse") if args.len() == 1 => self.converted(args),
            (Global::Json, "stringify")
            | (Global::Math, _)
            | (Global::Object, "fromEntries")
            | (Global::Array, "isArray" | "from") => self.converted(args),
            _ => Err(Stop),
        }
    }

    /// `Promise.all` and `Promise.allSettled`.
    fn all<'a>(&mut self, is_all: bool, args: &[Value<'a>]) -> Eval<Value<'a>> {
        match args {
            [Value::Promises(calls)] => Ok(promise(Value::Unknown, Vec::clone(calls))),
            [Value::List(items)] => {
                let items = items.borrow().clone().ok_or(Stop)?;
                let mut calls = Vec::new();
                let mut values = Vec::new();
                for item in items {
                    match item {
                        Value::Promise(promised) => {
                            calls.extend(&promised.calls);
                            values.push(promised.value.clone());
                        }
                        value if value.is_data() => values.push(value),
                        _ => return Err(Stop),
                    }
                }
                let value = match is_all {
                    true => Value::list(values),
                    false => Value::Unknown,
                };
                Ok(promise(value, calls))
            }
            _ => Err(Stop),
        }
    }

    /// `Object.keys` and its like.
    fn fields<'a>(&mut self, name: &str, args: &[Value<'a>]) -> Eval<Value<'a>> {
        let fields: Vec<(String, Value<'a>)> = match args {
            [Value::Object(fields)] => fields.borrow().clone(),
            [Value::Known(PrefetchValue::Json(Json::Object(fields)))] => fields
                .iter()
                .map(|(key, value)| (key.clone(), Value::json(value.clone())))
                .collect(),
            args => return self.converted(args),
        };
        let part = |(key, value): (String, Value<'a>)| match name {
            "keys" => Value::json(key),
            "values" => value,
            _ => Value::list(vec![Value::json(key), value]),
        };
        Ok(Value::list(fields.into_iter().map(part).collect()))
    }
}

fn is_reading(name: &str) -> bool {
    READING.contains(&name)
}
