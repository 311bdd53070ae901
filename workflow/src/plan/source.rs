//! The text of a plan as a JSON value, within bounds.
//!
//! YAML aliases can make terabytes of a few lines: every value counts as often as it is expanded, and
//! reading stops at the limit. A key that occurs twice is a mistake.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::PlanError;
use crate::limits::PlanLimits;

/// Reads JSON if the text begins like it, else YAML.
pub fn read(text: &str, limits: &PlanLimits) -> Result<Value, PlanError> {
    if text.len() > limits.bytes {
        return Err(PlanError::Syntax(format!(
            "it has {} bytes; the limit is {}",
            text.len(),
            limits.bytes
        )));
    }
    let text = text.trim_start_matches('\u{feff}');
    let budget = Budget {
        left: Cell::new(limits.values),
        bytes: Cell::new(limits.bytes),
    };
    let seed = Bounded(&budget);
    if text.trim_start().starts_with(['{', '[']) {
        let mut reader = serde_json::Deserializer::from_str(text);
        let json = seed.deserialize(&mut reader);
        match json.and_then(|value| reader.end().map(|()| value)) {
            Ok(value) => return Ok(value),
            // Flow style is YAML as well: `{ tasks: [...] }`.
            Err(error) if error.is_syntax() && is_yaml_flow(text) => {}
            Err(error) => return Err(PlanError::Syntax(error.to_string())),
        }
    }
    let reader = serde_yaml_ng::Deserializer::from_str(text);
    let value = seed.deserialize(reader);
    value.map_err(|error| PlanError::Syntax(error.to_string()))
}

/// Whether the first key has no quotes, as JSON would have.
fn is_yaml_flow(text: &str) -> bool {
    let inner = text
        .trim_start()
        .trim_start_matches(['{', '['])
        .trim_start();
    inner.starts_with(|c: char| c.is_alphabetic() || c == '\'')
}

struct Budget {
    left: Cell<usize>,
    bytes: Cell<usize>,
}

impl Budget {
    fn spend<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let too_large =
            || E::custom("the plan has too many values, or its aliases expand to too many");
        let left = self.left.get().checked_sub(1).ok_or_else(too_large)?;
        let left_bytes = self.bytes.get().checked_sub(bytes).ok_or_else(too_large)?;
        self.left.set(left);
        self.bytes.set(left_bytes);
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Bounded<'a>(&'a Budget);

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.0.spend(0)?;
        let number = Number::from_f64(value);
        Ok(number.map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.0.spend(value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.0.spend(0)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        self.0.spend(0)?;
        let mut object = Map::new();
        while let Some(key) = fields.next_key_seed(self)? {
            let key = match key {
                Value::String(key) => key,
                // YAML has keys that are numbers and booleans.
                Value::Array(_) | Value::Object(_) => {
                    return Err(A::Error::custom("a key is a text"));
                }
                other => other.to_string(),
            };
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` occurs twice")));
            }
            let value = fields.next_value_seed(self)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<Value, String> {
        read(text, &PlanLimits::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn json_and_yaml_are_read() {
        let expected = json!({ "tasks": [{ "id": "a", "n": 1 }] });
        for text in [
            r#"{"tasks":[{"id":"a","n":1}]}"#,
            "tasks:\n  - id: a\n    n: 1\n",
            "{ tasks: [{ id: a, n: 1 }] }",
            "\u{feff}{\"tasks\":[{\"id\":\"a\",\"n\":1}]}",
        ] {
            assert_eq!(parse(text), Ok(expected.clone()), "{text}");
        }
    }

    #[test]
    fn aliases_are_expanded_up_to_the_limit() {
        assert_eq!(
            parse("a: &x [1, 2]\nb: *x\n"),
            Ok(json!({ "a": [1, 2], "b": [1, 2] }))
        );
        let mut bomb = String::from("l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
        for level in 1..12 {
            let alias = format!("*l{}", level - 1);
            let list = vec![alias; 9].join(", ");
            bomb.push_str(&format!("l{level}: &l{level} [{list}]\n"));
        }
        let error = parse(&bomb).unwrap_err();
        assert!(
            error.contains("too many") || error.contains("repetition"),
            "{error}"
        );
        let text = format!(
            "a: &a {}\nb: [{}]\n",
            "x".repeat(100_000),
            vec!["*a"; 1_000].join(",")
        );
        assert!(
            parse(&text).unwrap_err().contains("expand"),
            "bytes count too"
        );
    }

    #[test]
    fn mistakes_in_the_text_have_a_place() {
        let error = parse("{ \"tasks\": [\n  { \"id\": } ] }").unwrap_err();
        assert!(error.contains("line 2"), "{error}");
        let error = parse("tasks:\n  - id: a\n   x: [\n").unwrap_err();
        assert!(error.contains("line"), "{error}");
        assert!(parse("{\"a\":1,\"a\":2}").unwrap_err().contains("twice"));
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse(&"- ".repeat(100_000)).is_err());
        assert!(parse("a: !!python/object x").is_err() || parse("a: !tag x").is_err());
        assert!(parse("").is_ok_and(|value| value.is_null()));
    }
}
