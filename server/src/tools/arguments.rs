//! Parses the arguments of our own tools.

use std::fmt;

use rmcp::model::JsonObject;
use serde::de::{DeserializeOwned, Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Parses the arguments of a tool.
///
/// # Errors
///
/// A sentence with the path of the wrong argument and the reason.
pub fn parse<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, String> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let place = match error.path().to_string().as_str() {
            "." => String::new(),
            path => format!("`{path}`: "),
        };
        let mistake = error.into_inner();
        format!("the arguments do not fit the schema: {place}{mistake}")
    })
}

/// A whole number. Some models write `100.0` or `"100"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole(pub u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor).map(Self)
    }
}

struct WholeVisitor;

impl Visitor<'_> for WholeVisitor {
    type Value = u64;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a whole number")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        u64::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        // The cast saturates at the largest `u64`.
        match number >= 0.0 && number.fract() == 0.0 {
            true => Ok(number as u64),
            false => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        text.trim()
            .parse()
            .map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct SampleArguments {
        limit: Option<Whole>,
    }

    fn limit(value: Value) -> Result<Option<u64>, String> {
        let arguments = json!({ "limit": value }).as_object().cloned();
        parse::<SampleArguments>(arguments).map(|arguments| arguments.limit.map(|limit| limit.0))
    }

    #[test]
    fn whole_numbers_are_taken_as_models_write_them() {
        for written in [json!(5), json!(5.0), json!("5")] {
            assert_eq!(limit(written), Ok(Some(5)));
        }
        assert_eq!(limit(Value::Null), Ok(None));
    }

    #[test]
    fn a_mistake_names_its_field() {
        for (written, expected) in [
            (json!("many"), "invalid value: string \"many\""),
            (json!(1.5), "invalid value: floating point `1.5`"),
            (json!(-1), "invalid value: integer `-1`"),
            (json!(true), "invalid type: boolean `true`"),
        ] {
            let mistake = limit(written).unwrap_err();
            assert!(
                mistake.ends_with(&format!("`limit`: {expected}, expected a whole number")),
                "{mistake}"
            );
        }
        let unknown = json!({ "limt": 1 }).as_object().cloned();
        let mistake = parse::<SampleArguments>(unknown).unwrap_err();
        assert!(mistake.contains("unknown field `limt`"), "{mistake}");
    }
}
