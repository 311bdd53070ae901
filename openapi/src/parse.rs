//! Reads JSON or YAML into JSON values, within a budget of values.
//!
//! YAML may repeat a part of a document by an alias, and a few of those make billions of values. So
//! every value is counted while it is read.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_json::{Map, Number, Value};

/// Values of one document. The largest public ones have about a million.
pub const MAX_VALUES: usize = 3_000_000;

/// Brackets of YAML that are open at one place.
const MAX_OPEN_BRACKETS: usize = 2_000;

/// Why a text is not a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Neither JSON nor YAML.
    #[error("it is neither JSON nor YAML: {0}")]
    Syntax(String),
}

/// Reads a text as JSON if it begins as an object of JSON, else as YAML.
///
/// # Errors
/// The syntax is invalid, values are nested too deeply, or there are more than [`MAX_VALUES`].
pub fn parse(text: &str) -> Result<Value, ParseError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut left = MAX_VALUES;
    let value = match text.trim_start().starts_with('{') {
        true => {
            let mut reader = serde_json::Deserializer::from_str(text);
            let value = Counted(&mut left).deserialize(&mut reader);
            match value.and_then(|value| reader.end().map(|()| value)) {
                Ok(value) => value,
                // A flow mapping of YAML begins alike.
                Err(error) => read_yaml(text).map_err(|_| ParseError::Syntax(error.to_string()))?,
            }
        }
        false => read_yaml(text)?,
    };
    Ok(value)
}

fn read_yaml(text: &str) -> Result<Value, ParseError> {
    if has_deep_brackets(text) {
        let message = format!("more than {MAX_OPEN_BRACKETS} brackets are open");
        return Err(ParseError::Syntax(message));
    }
    let mut left = MAX_VALUES;
    Counted(&mut left)
        .deserialize(serde_yaml_ng::Deserializer::from_str(text))
        .map_err(|error| ParseError::Syntax(error.to_string()))
}

/// Whether more brackets are open than any document needs. Each one that is open costs the scanner of
/// YAML time at every word behind it. Texts are counted too: prose closes most of what it opens.
fn has_deep_brackets(text: &str) -> bool {
    let mut open = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > MAX_OPEN_BRACKETS
    })
}

/// Reads a value and takes it from what is left.
struct Counted<'a>(&'a mut usize);

impl<'de> DeserializeSeed<'de> for Counted<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.0.checked_sub(1) {
            Some(left) => *self.0 = left,
            None => return Err(D::Error::custom(format!("more than {MAX_VALUES} values"))),
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counted<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        // JSON has neither `.nan` nor `.inf`.
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Number::from_f64(value as f64).map_or(Value::Null, Value::Number))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Number::from_f64(value as f64).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(Counted(self.0))? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        let mut merged = Vec::new();
        while let Some(key) = entries.next_key_seed(Counted(self.0))? {
            let value = entries.next_value_seed(Counted(self.0))?;
            match key {
                Value::String(key) if key == "<<" => merged.push(value),
                Value::String(key) => {
                    map.insert(key, value);
                }
                // YAML reads the status code of a response as a number.
                other => {
                    map.insert(other.to_string(), value);
                }
            }
        }
        merge(&mut map, merged);
        Ok(Value::Object(map))
    }

    /// A value with a tag of YAML: the tag says nothing here.
    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Value, A::Error> {
        let (_, value) = tagged.variant::<String>()?;
        value.newtype_variant_seed(self)
    }
}

/// The merge keys of YAML: what the object has itself wins.
fn merge(map: &mut Map<String, Value>, merged: Vec<Value>) {
    let parts = merged.into_iter().flat_map(|value| match value {
        Value::Array(parts) => parts,
        other => vec![other],
    });
    for part in parts {
        if let Value::Object(part) = part {
            for (key, value) in part {
                map.entry(key).or_insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_and_yaml_give_the_same_values() {
        let expected = json!({ "a": { "200": [1, 2.5, "x", true, null] } });
        assert_eq!(parse(&expected.to_string()), Ok(expected.clone()));
        assert_eq!(parse("a:\n  200: [1, 2.5, x, true, ~]"), Ok(expected));
        assert_eq!(parse("{ a: 1 }"), Ok(json!({ "a": 1 })), "a flow mapping");
    }

    #[test]
    fn merge_keys_and_tags_of_yaml_are_read() {
        let text = "base: &b { x: 1, y: 2 }\nown:\n  <<: *b\n  y: 3\nt: !mine text";
        let value = parse(text).unwrap();
        assert_eq!(value["own"], json!({ "x": 1, "y": 3 }));
        assert_eq!(value["t"], "text");
    }

    #[test]
    fn aliases_that_multiply_without_end_are_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..12 {
            let items = vec![format!("*a{}", n - 1); 10].join(", ");
            text.push_str(&format!("a{n}: &a{n} [{items}]\n"));
        }
        assert!(parse(&text).is_err());
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = |open: &str, close: &str| {
            format!(
                "{{\"a\": {}1{}}}",
                open.repeat(100_000),
                close.repeat(100_000)
            )
        };
        assert!(parse(&deep("[", "]")).is_err());
        assert!(parse(&deep("{\"a\":", "}")).is_err());
        assert!(parse(&format!("a: {}", "[".repeat(100_000))).is_err());
    }
}
