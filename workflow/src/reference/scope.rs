//! The values that references are resolved to.

use std::sync::Arc;

use serde_json::Value;

use super::{Reference, Root, Segment};
use crate::error::shown;

/// What a task sees.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// `$INPUT`
    pub input: &'a Value,
    /// The output of every node; `None` for one that has none.
    pub outputs: &'a [Option<Arc<Value>>],
    /// The failure of every node.
    pub errors: &'a [Option<Arc<Value>>],
    /// `$ITEM` and `$INDEX`
    pub item: Option<(&'a Value, usize)>,
}

/// A path that leads to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{reference}` leads to nothing: {reason}; write `?` behind the path to get null instead")]
pub struct MissingPath {
    reference: String,
    reason: String,
}

static NULL: Value = Value::Null;

impl<'a> Scope<'a> {
    /// The value of a reference.
    ///
    /// # Errors
    ///
    /// A path that leads to nothing and has no `?`.
    pub fn get(&self, reference: &Reference) -> Result<Found<'a>, MissingPath> {
        let start = match reference.root {
            Root::Input => self.input,
            // A task that is safe to fail has null for an output, and so for everything in it.
            Root::Output(node) => match self.outputs.get(node) {
                Some(Some(output)) => output,
                _ => return Ok(Found::Borrowed(&NULL)),
            },
            Root::Error(node) => match self.errors.get(node) {
                Some(Some(error)) => error,
                _ => return Ok(Found::Borrowed(&NULL)),
            },
            Root::Item => self.item.map_or(&NULL, |(item, _)| item),
            Root::Index => {
                let index = self.item.map_or(0, |(_, index)| index);
                return Ok(Found::Owned(Value::from(index)));
            }
        };
        let mut value = start;
        for (step, segment) in reference.path.iter().enumerate() {
            let next = match (segment, value) {
                (Segment::Key(key), Value::Object(fields)) => fields.get(key),
                (Segment::Index(index), Value::Array(items)) => items.get(*index),
                // `$OUTPUT[t][2024]` of an object, and `.0` of a list.
                (Segment::Index(index), Value::Object(fields)) => fields.get(&index.to_string()),
                (Segment::Key(key), Value::Array(items)) => {
                    key.parse::<usize>().ok().and_then(|index| items.get(index))
                }
                _ => None,
            };
            value = match next {
                Some(next) => next,
                None if step < reference.optional => return Ok(Found::Borrowed(&NULL)),
                None => {
                    return Err(MissingPath {
                        reference: shortened(&reference.text),
                        reason: reason(segment, value),
                    });
                }
            };
        }
        Ok(Found::Borrowed(value))
    }
}

/// A value of the scope.
pub enum Found<'a> {
    /// It is in the scope.
    Borrowed(&'a Value),
    /// It was made.
    Owned(Value),
}

impl Found<'_> {
    /// The value.
    pub fn value(&self) -> &Value {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }

    /// A copy of it.
    pub fn into_owned(self) -> Value {
        match self {
            Self::Borrowed(value) => value.clone(),
            Self::Owned(value) => value,
        }
    }
}

fn shortened(text: &str) -> String {
    shown(text).trim_matches('`').to_owned()
}

fn reason(segment: &Segment, value: &Value) -> String {
    const NAMED: usize = 6;
    match (segment, value) {
        (Segment::Key(key), Value::Object(fields)) if fields.is_empty() => {
            format!("there is no field {} in an empty object", shown(key))
        }
        (Segment::Key(key), Value::Object(fields)) => {
            let names: Vec<String> = fields.keys().take(NAMED).map(|key| shown(key)).collect();
            let more = if fields.len() > NAMED { ", …" } else { "" };
            format!(
                "there is no field {} beside {}{more}",
                shown(key),
                names.join(", ")
            )
        }
        (Segment::Index(index), Value::Array(items)) => {
            format!("the list has {} items, there is no [{index}]", items.len())
        }
        (Segment::Key(key), other) => {
            format!("{} has no field {}", kind(other), shown(key))
        }
        (Segment::Index(index), other) => format!("{} has no [{index}]", kind(other)),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
