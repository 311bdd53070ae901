//! Bodies of `application/x-www-form-urlencoded`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::escape::{escape, escape_form};
use super::style::{named, scalar};
use crate::operation::{Encoding, Style};

/// The fields of a form, joined by `&`. Without an encoding in the document, a list is repeated and an
/// object is JSON.
pub fn encode(fields: &Map<String, Value>, encodings: &BTreeMap<String, Encoding>) -> String {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let encoding = encodings.get(name);
        let styled = encoding.and_then(|encoding| encoding.style);
        match (styled, value) {
            (Some((style, explode, reserved)), value) => {
                let encode = |text: &str| escape(text, reserved);
                pairs.extend(named(name, value, style, explode, &encode));
            }
            (None, Value::Array(items)) => {
                let items = items
                    .iter()
                    .map(|item| (escape_form(name), escape_form(&scalar(item))));
                pairs.extend(items);
            }
            (None, value) => pairs.push((escape_form(name), escape_form(&scalar(value)))),
        }
    }
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join("&")
}

/// A whole query given as an object (3.2).
pub fn query_string(value: &Value, style: Style) -> String {
    match (value, style) {
        (Value::Object(fields), Style::Form) => encode(fields, &BTreeMap::new()),
        (value, Style::Json) => escape(&value.to_string(), false),
        (value, _) => escape(&scalar(value), true),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_repeated_objects_are_json_and_styles_are_followed() {
        let fields = json!({
            "a": "x y&z", "b": [1, 2], "c": { "d": true }, "deep": { "k": ["v"], "m": { "n": 1 } },
            "none": null, "csv": ["p", "q"]
        });
        let style = |style, explode| Encoding {
            style: Some((style, explode, false)),
            ..Encoding::default()
        };
        let encodings = BTreeMap::from([
            ("deep".to_owned(), style(Style::DeepObject, true)),
            ("csv".to_owned(), style(Style::Form, false)),
        ]);
        let mut parts: Vec<String> = encode(fields.as_object().unwrap(), &encodings)
            .split('&')
            .map(str::to_owned)
            .collect();
        parts.sort();
        assert_eq!(
            parts,
            [
                "a=x+y%26z",
                "b=1",
                "b=2",
                "c=%7B%22d%22%3Atrue%7D",
                "csv=p,q",
                "deep%5Bk%5D%5B%5D=v",
                "deep%5Bm%5D%5Bn%5D=1"
            ]
        );
    }
}
