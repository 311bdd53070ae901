//! The values of the evaluation.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use pml_protocol::PrefetchValue;
use serde_json::{Map, Number, Value as Json};
use swc_core::ecma::ast::{Expr, Pat, Stmt};

use super::scope::Scope;

/// A value of a script, as far as it is known.
#[derive(Clone)]
pub(super) enum Value<'a> {
    /// JSON: a constant, or a result of an earlier call or a part of it.
    Known(PrefetchValue),
    Undefined,
    /// Data about which nothing is known. Reading it has no effect.
    Unknown,
    /// An array of the script; `None` once its items are not known.
    List(Rc<RefCell<Option<Vec<Value<'a>>>>>),
    /// An object literal of the script.
    Object(Rc<RefCell<Vec<(String, Value<'a>)>>>),
    Function(Rc<Closure<'a>>),
    /// What `callTool` returns: `{ success, result }`.
    Answer(u32),
    /// True unless a call has failed, and nothing is foreseen for that case.
    Succeeded,
    /// True only if a call has failed.
    Failed,
    Promise(Rc<Promised<'a>>),
    /// An array of promises, one for each item of a list that is not known yet.
    Promises(Rc<Vec<u32>>),
    Global(Global),
    /// `tools`, `tools.server`, `tools.server.tool`, …
    Tools(Rc<Vec<String>>),
    /// A declaration that was not evaluated yet, or cannot be.
    Unset,
}

/// A promise, the value that it resolves to, and the calls that its state tells about.
pub(super) struct Promised<'a> {
    pub value: Value<'a>,
    pub calls: Vec<u32>,
}

/// A function of the script.
pub(super) struct Closure<'a> {
    pub params: Vec<&'a Pat>,
    pub body: Body<'a>,
    pub is_async: bool,
    pub scope: Rc<Scope<'a>>,
}

/// The body of a function.
#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    Expr(&'a Expr),
    Stmts(&'a [Stmt]),
}

/// A global of the language or of the script API.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    /// The module "pml".
    Api,
    CallTool,
    CallToolsBatch,
    Load,
    Promise,
    Console,
    Json,
    Math,
    Object,
    Array,
    /// A function such as `String`, which returns data and has no effect.
    Convert,
}

impl Global {
    /// The global of a name; `None` for all others, also those that read the clock.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "Promise" => Self::Promise,
            "console" => Self::Console,
            "JSON" => Self::Json,
            "Math" => Self::Math,
            "Object" => Self::Object,
            "Array" => Self::Array,
            "String" | "Number" | "Boolean" | "parseInt" | "parseFloat" | "encodeURIComponent"
            | "decodeURIComponent" | "isNaN" | "structuredClone" => Self::Convert,
            _ => return Self::of_api(name),
        })
    }

    /// A function of the script API.
    pub fn of_api(name: &str) -> Option<Self> {
        Some(match name {
            "callTool" => Self::CallTool,
            "callToolsBatch" => Self::CallToolsBatch,
            "load" => Self::Load,
            _ => return None,
        })
    }
}

/// The deepest value that is converted, and the most values in it. One that is in a list twice counts twice.
const MAX_DEPTH: usize = 16;
const MAX_CONVERTED: usize = 10_000;

impl<'a> Value<'a> {
    pub fn json(value: impl Into<Json>) -> Self {
        Self::Known(PrefetchValue::Json(value.into()))
    }

    /// A number as JavaScript prints it in JSON.
    pub fn number(value: f64) -> Self {
        number(value).map_or(Self::Unknown, |number| Self::json(Json::Number(number)))
    }

    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(RefCell::new(Some(items))))
    }

    pub fn object(fields: Vec<(String, Self)>) -> Self {
        Self::Object(Rc::new(RefCell::new(fields)))
    }

    pub fn constant(&self) -> Option<&Json> {
        match self {
            Self::Known(PrefetchValue::Json(json)) => Some(json),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        self.constant()?.as_str()
    }

    /// Whether the value consists of data: converting it to a string or to JSON runs no function of
    /// the script.
    pub fn is_data(&self) -> bool {
        self.is_data_within(MAX_DEPTH, &Cell::new(MAX_CONVERTED))
    }

    fn is_data_within(&self, depth: usize, left: &Cell<usize>) -> bool {
        let Some(depth) = inside(depth, left) else {
            return false;
        };
        match self {
            Self::Known(_)
            | Self::Undefined
            | Self::Unknown
            | Self::Answer(_)
            | Self::Succeeded
            | Self::Failed => true,
            Self::List(items) => items
                .borrow()
                .as_ref()
                .is_none_or(|items| items.iter().all(|item| item.is_data_within(depth, left))),
            Self::Object(fields) => fields
                .borrow()
                .iter()
                .all(|(_, value)| value.is_data_within(depth, left)),
            _ => false,
        }
    }

    /// The value as JSON will have it; `None` if that is not known.
    pub fn to_known(&self) -> Option<PrefetchValue> {
        self.to_known_within(MAX_DEPTH, &Cell::new(MAX_CONVERTED))
    }

    fn to_known_within(&self, depth: usize, left: &Cell<usize>) -> Option<PrefetchValue> {
        let depth = inside(depth, left)?;
        match self {
            Self::Known(known) => Some(known.clone()),
            Self::Answer(id) => Some(PrefetchValue::Object(vec![
                ("success".to_owned(), PrefetchValue::Json(Json::Bool(true))),
                ("result".to_owned(), PrefetchValue::Result(*id)),
            ])),
            Self::List(items) => {
                let items = items.borrow();
                let items = items.as_ref()?.iter().map(|item| match item {
                    Self::Undefined => Some(PrefetchValue::Json(Json::Null)),
                    item => item.to_known_within(depth, left),
                });
                Some(folded_list(items.collect::<Option<_>>()?))
            }
            Self::Object(fields) => {
                let fields = fields.borrow();
                let fields = fields
                    .iter()
                    .filter(|(_, value)| !matches!(value, Self::Undefined))
                    .map(|(key, value)| Some((key.clone(), value.to_known_within(depth, left)?)));
                Some(folded_object(fields.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }
}

/// The depth that is left inside of the next value; `None` at a bound.
fn inside(depth: usize, left: &Cell<usize>) -> Option<usize> {
    left.set(left.get().checked_sub(1)?);
    depth.checked_sub(1)
}

fn folded_list(items: Vec<PrefetchValue>) -> PrefetchValue {
    let constants = items.iter().map(|item| match item {
        PrefetchValue::Json(json) => Some(json.clone()),
        _ => None,
    });
    match constants.collect::<Option<Vec<Json>>>() {
        Some(constants) => PrefetchValue::Json(Json::Array(constants)),
        None => PrefetchValue::List(items),
    }
}

fn folded_object(fields: Vec<(String, PrefetchValue)>) -> PrefetchValue {
    let constants = fields.iter().map(|(key, value)| match value {
        PrefetchValue::Json(json) => Some((key.clone(), json.clone())),
        _ => None,
    });
    match constants.collect::<Option<Map<String, Json>>>() {
        Some(constants) => PrefetchValue::Json(Json::Object(constants)),
        None => PrefetchValue::Object(fields),
    }
}

/// The largest whole number that JavaScript has exactly.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// A number as JSON: whole numbers without a fraction.
pub(super) fn number(value: f64) -> Option<Number> {
    let is_whole = value.fract() == 0.0 && value.abs() <= MAX_SAFE;
    match is_whole {
        true => Some(Number::from(value as i64)),
        false => Number::from_f64(value),
    }
}
