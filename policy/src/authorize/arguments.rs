//! The circumstances of a request as a Cedar context.
//!
//! Cedar has no fractions and no null. An argument that is null is absent, and a number that is not an
//! integer is its text: comparing it as a number is an error, and an error of a policy denies.

use cedar_policy::{Context, RestrictedExpression};
use serde_json::{Map, Number, Value};

use super::query::CallContext;
use super::timestamp::timestamp;
use crate::labels::Label;

/// Which attributes an action has besides the time and the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextShape {
    /// `args`
    Call,
    /// None.
    Bare,
    /// One named attribute.
    Named(&'static str),
    /// `name` and `args`
    Prompt,
}

/// The context of a request; the error is a sentence.
pub fn context(given: &CallContext<'_>, shape: ContextShape) -> Result<Context, String> {
    let mut pairs = vec![
        (
            "time".to_owned(),
            RestrictedExpression::new_datetime(timestamp(given.time)),
        ),
        ("run".to_owned(), label(given.run)?),
        ("session".to_owned(), label(given.session)?),
    ];
    let no_args = Map::new();
    if matches!(shape, ContextShape::Call | ContextShape::Prompt) {
        pairs.push(("args".to_owned(), record(given.args.unwrap_or(&no_args))?));
    }
    let named = match shape {
        ContextShape::Named(attribute) => Some(attribute),
        ContextShape::Prompt => Some("name"),
        ContextShape::Call | ContextShape::Bare => None,
    };
    if let (Some(attribute), Some(value)) = (named, given.name) {
        let value = RestrictedExpression::new_string(value.to_owned());
        pairs.push((attribute.to_owned(), value));
    }
    Context::from_pairs(pairs).map_err(|error| error.to_string())
}

fn label(label: &Label) -> Result<RestrictedExpression, String> {
    let private = label.private_servers().map(str::to_owned);
    let private = private.map(RestrictedExpression::new_string);
    let fields = [
        (
            "untrusted".to_owned(),
            RestrictedExpression::new_bool(label.is_untrusted()),
        ),
        ("private".to_owned(), RestrictedExpression::new_set(private)),
    ];
    RestrictedExpression::new_record(fields).map_err(|error| error.to_string())
}

fn record(fields: &Map<String, Value>) -> Result<RestrictedExpression, String> {
    let fields = fields
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), expression(value).transpose()?)))
        .map(|(name, value)| Ok((name, value?)));
    let fields: Result<Vec<_>, String> = fields.collect();
    RestrictedExpression::new_record(fields?).map_err(|error| error.to_string())
}

/// `None` for null.
fn expression(value: &Value) -> Result<Option<RestrictedExpression>, String> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Bool(value) => RestrictedExpression::new_bool(*value),
        Value::Number(number) => self::number(number),
        Value::String(text) => RestrictedExpression::new_string(text.clone()),
        Value::Array(items) => {
            let items = items.iter().filter_map(|item| expression(item).transpose());
            RestrictedExpression::new_set(items.collect::<Result<Vec<_>, _>>()?)
        }
        Value::Object(fields) => record(fields)?,
    }))
}

/// A number that is an integer is a Long, also if it is written as `1.0` or `1e2`: servers see no
/// difference.
fn number(number: &Number) -> RestrictedExpression {
    let integer = number.as_i64().or_else(|| {
        let value = number.as_f64()?;
        // Every integer up to 2^53 is exact; larger ones are compared as text.
        let is_integer = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
        is_integer.then_some(value as i64)
    });
    match integer {
        Some(integer) => RestrictedExpression::new_long(integer),
        None => RestrictedExpression::new_string(number.to_string()),
    }
}
