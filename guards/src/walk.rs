//! Walks through JSON: texts with their places, and digests.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::LazyLock;

use serde_json::{Number, Value};

/// The place of a value in the arguments, as in `items[2].url`.
#[derive(Clone, Copy)]
pub(crate) enum At<'a> {
    Top,
    Key(&'a At<'a>, &'a str),
    Index(&'a At<'a>, usize),
    /// One of the keys of an object, which may be data.
    KeyIn(&'a At<'a>),
}

/// Characters of a key that are shown.
const SHOWN_KEY: usize = 40;

impl At<'_> {
    /// The nearest key above: the name of the argument.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Top | Self::KeyIn(_) => None,
            Self::Key(_, key) => Some(key),
            Self::Index(above, _) => above.key(),
        }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top => Ok(()),
            Self::Key(above, key) => {
                write!(f, "{above}")?;
                if !matches!(above, Self::Top) {
                    f.write_str(".")?;
                }
                let is_name = |c: char| c.is_ascii_alphanumeric() || "_-$".contains(c);
                match key.chars().all(is_name) && key.len() <= SHOWN_KEY {
                    true => f.write_str(key),
                    // The key may be data.
                    false => f.write_str("*"),
                }
            }
            Self::Index(above, index) => write!(f, "{above}[{index}]"),
            Self::KeyIn(Self::Top) => f.write_str("*"),
            Self::KeyIn(above) => write!(f, "{above}.*"),
        }
    }
}

/// A value without values inside, or a key.
#[derive(Clone, Copy)]
pub(crate) enum Leaf<'a> {
    Text(&'a str),
    Number(&'a Number),
}

/// Visits every text, keys included, until `visit` returns something.
pub(crate) fn find_text<T>(
    value: &Value,
    at: &At<'_>,
    visit: &mut dyn FnMut(&At<'_>, &str) -> Option<T>,
) -> Option<T> {
    find_leaf(value, at, &mut |at, leaf| match leaf {
        Leaf::Text(text) => visit(at, text),
        Leaf::Number(_) => None,
    })
}

/// Visits every text, keys included, and every number, until `visit` returns something.
pub(crate) fn find_leaf<T>(
    value: &Value,
    at: &At<'_>,
    visit: &mut dyn FnMut(&At<'_>, Leaf<'_>) -> Option<T>,
) -> Option<T> {
    match value {
        Value::String(text) => visit(at, Leaf::Text(text)),
        Value::Number(number) => visit(at, Leaf::Number(number)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| find_leaf(item, &At::Index(at, index), visit)),
        Value::Object(fields) => fields.iter().find_map(|(key, value)| {
            visit(&At::KeyIn(at), Leaf::Text(key))
                .or_else(|| find_leaf(value, &At::Key(at, key), visit))
        }),
        Value::Null | Value::Bool(_) => None,
    }
}

/// Keyed at random, so that equal digests cannot be made up.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A digest that is the same for equal values, whatever the order of their keys. Numbers are equal if
/// they are the same number: `1` and `1.0`.
pub(crate) fn digest(value: &Value) -> u64 {
    let mut hasher = KEY.build_hasher();
    match value {
        Value::Null => 0_u8.hash(&mut hasher),
        Value::Bool(bool) => (1_u8, bool).hash(&mut hasher),
        Value::Number(number) => {
            let float = number.as_f64().unwrap_or(f64::NAN);
            let is_exact = float.fract() == 0.0 && float.abs() < 9e15;
            match is_exact {
                true => (2_u8, (float + 0.0).to_bits()).hash(&mut hasher),
                false => (2_u8, number.to_string()).hash(&mut hasher),
            }
        }
        Value::String(text) => (3_u8, text).hash(&mut hasher),
        Value::Array(items) => {
            (4_u8, items.len()).hash(&mut hasher);
            for item in items {
                digest(item).hash(&mut hasher);
            }
        }
        Value::Object(fields) => {
            let sum = fields.iter().map(entry).fold(0_u64, u64::wrapping_add);
            (5_u8, fields.len(), sum).hash(&mut hasher);
        }
    }
    hasher.finish()
}

fn entry((key, value): (&String, &Value)) -> u64 {
    KEY.hash_one((key, digest(value)))
}

/// The digest of a tool with its arguments, of which one may be left out.
pub(crate) fn digest_of_call(tool: &str, arguments: &Value, left_out: Option<&str>) -> u64 {
    let mut hasher = KEY.build_hasher();
    tool.hash(&mut hasher);
    match arguments {
        Value::Object(fields) => {
            let kept = fields
                .iter()
                .filter(|(key, _)| Some(key.as_str()) != left_out);
            kept.map(entry)
                .fold(0_u64, u64::wrapping_add)
                .hash(&mut hasher);
        }
        other => digest(other).hash(&mut hasher),
    }
    hasher.finish()
}
