//! Values as text, in every style of OpenAPI.

use serde_json::Value;

use super::escape::{escape, escape_except, escape_path};
use crate::operation::Style;

/// A scalar as it is written without quotes; what is nested deeper than a style goes is JSON.
pub fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The items or the keys and values of a value.
enum Shape {
    One(String),
    List(Vec<String>),
    Map(Vec<(String, String)>),
}

fn shape(value: &Value, encode: &dyn Fn(&str) -> String) -> Shape {
    let text = |value: &Value| encode(&scalar(value));
    match value {
        Value::Array(items) => Shape::List(items.iter().map(text).collect()),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            Shape::Map(
                fields
                    .map(|(key, value)| (encode(key), text(value)))
                    .collect(),
            )
        }
        one => Shape::One(text(one)),
    }
}

fn pairs(fields: &[(String, String)], inner: &str, outer: &str) -> String {
    let pairs = fields
        .iter()
        .map(|(key, value)| format!("{key}{inner}{value}"));
    pairs.collect::<Vec<_>>().join(outer)
}

/// A value in a path.
pub fn in_path(name: &str, value: &Value, style: Style, explode: bool, reserved: bool) -> String {
    let encode = |text: &str| escape_path(text, reserved);
    if style == Style::Json {
        return encode(&value.to_string());
    }
    let name = escape_except(name, "");
    match (style, shape(value, &encode), explode) {
        (Style::Label, Shape::One(text), _) => format!(".{text}"),
        (Style::Label, Shape::List(items), false) => format!(".{}", items.join(",")),
        (Style::Label, Shape::List(items), true) => format!(".{}", items.join(".")),
        (Style::Label, Shape::Map(fields), false) => format!(".{}", pairs(&fields, ",", ",")),
        (Style::Label, Shape::Map(fields), true) => format!(".{}", pairs(&fields, "=", ".")),
        (Style::Matrix, Shape::One(text), _) if text.is_empty() => format!(";{name}"),
        (Style::Matrix, Shape::One(text), _) => format!(";{name}={text}"),
        (Style::Matrix, Shape::List(items), false) => format!(";{name}={}", items.join(",")),
        (Style::Matrix, Shape::List(items), true) => {
            items.iter().map(|item| format!(";{name}={item}")).collect()
        }
        (Style::Matrix, Shape::Map(fields), false) => {
            format!(";{name}={}", pairs(&fields, ",", ","))
        }
        (Style::Matrix, Shape::Map(fields), true) => format!(";{}", pairs(&fields, "=", ";")),
        (_, Shape::One(text), _) => text,
        (_, Shape::List(items), _) => items.join(","),
        (_, Shape::Map(fields), false) => pairs(&fields, ",", ","),
        (_, Shape::Map(fields), true) => pairs(&fields, "=", ","),
    }
}

/// A value in a header, which is not percent-encoded.
pub fn in_header(value: &Value, style: Style, explode: bool) -> String {
    if style == Style::Json {
        return value.to_string();
    }
    match (shape(value, &str::to_owned), explode) {
        (Shape::One(text), _) => text,
        (Shape::List(items), _) => items.join(","),
        (Shape::Map(fields), false) => pairs(&fields, ",", ","),
        (Shape::Map(fields), true) => pairs(&fields, "=", ","),
    }
}

/// A value in a query or a cookie, as names and values that are encoded. A list or an object without
/// content has none.
pub fn named(
    name: &str,
    value: &Value,
    style: Style,
    explode: bool,
    encode: &dyn Fn(&str) -> String,
) -> Vec<(String, String)> {
    let key = encode(name);
    match style {
        Style::Json => return vec![(key, encode(&value.to_string()))],
        Style::DeepObject => {
            let mut found = Vec::new();
            deep(name, value, &mut found);
            let encoded = found
                .iter()
                .map(|(name, value)| (encode(name), encode(value)));
            return encoded.collect();
        }
        _ => {}
    }
    let separator = match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        Style::TabDelimited => "%09",
        _ => ",",
    };
    match (shape(value, encode), explode) {
        (Shape::One(text), _) => vec![(key, text)],
        (Shape::List(items), true) => items.into_iter().map(|item| (key.clone(), item)).collect(),
        (Shape::Map(fields), true) => fields,
        (Shape::List(items), false) if items.is_empty() => Vec::new(),
        (Shape::List(items), false) => vec![(key, items.join(separator))],
        (Shape::Map(fields), false) if fields.is_empty() => Vec::new(),
        (Shape::Map(fields), false) => vec![(key, pairs(&fields, separator, separator))],
    }
}

/// `name[key]=value`, and `name[key][0]=value` for what is nested, as the services that read this style
/// do.
fn deep(name: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                deep(&format!("{name}[{key}]"), value, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                match item {
                    Value::Object(_) | Value::Array(_) => {
                        deep(&format!("{name}[{index}]"), item, found);
                    }
                    item => found.push((format!("{name}[]"), scalar(item))),
                }
            }
        }
        one => found.push((name.to_owned(), scalar(one))),
    }
}

/// A value in a query, joined by `&`.
pub fn in_query(name: &str, value: &Value, style: Style, explode: bool, reserved: bool) -> String {
    let encode = |text: &str| escape(text, reserved);
    let pairs = named(name, value, style, explode, &encode);
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The table of the specification, for a text, a list and an object.
    #[test]
    fn values_look_as_the_table_of_the_specification_has_them() {
        let text = json!("blue");
        let list = json!(["blue", "black", "brown"]);
        let object = json!({ "B": 150, "G": 200, "R": 100 });
        let path = |value: &Value, style, explode| in_path("color", value, style, explode, false);
        let query = |value: &Value, style, explode| in_query("color", value, style, explode, false);
        for (style, explode, expected) in [
            (
                Style::Matrix,
                false,
                [
                    ";color=blue",
                    ";color=blue,black,brown",
                    ";color=B,150,G,200,R,100",
                ],
            ),
            (
                Style::Matrix,
                true,
                [
                    ";color=blue",
                    ";color=blue;color=black;color=brown",
                    ";B=150;G=200;R=100",
                ],
            ),
            (
                Style::Label,
                false,
                [".blue", ".blue,black,brown", ".B,150,G,200,R,100"],
            ),
            (
                Style::Label,
                true,
                [".blue", ".blue.black.brown", ".B=150.G=200.R=100"],
            ),
            (
                Style::Simple,
                false,
                ["blue", "blue,black,brown", "B,150,G,200,R,100"],
            ),
            (
                Style::Simple,
                true,
                ["blue", "blue,black,brown", "B=150,G=200,R=100"],
            ),
        ] {
            let found = [&text, &list, &object].map(|value| path(value, style, explode));
            assert_eq!(found, expected, "{style:?} {explode}");
        }
        for (style, explode, expected) in [
            (
                Style::Form,
                false,
                [
                    "color=blue",
                    "color=blue,black,brown",
                    "color=B,150,G,200,R,100",
                ],
            ),
            (
                Style::Form,
                true,
                [
                    "color=blue",
                    "color=blue&color=black&color=brown",
                    "B=150&G=200&R=100",
                ],
            ),
            (
                Style::SpaceDelimited,
                false,
                [
                    "color=blue",
                    "color=blue%20black%20brown",
                    "color=B%20150%20G%20200%20R%20100",
                ],
            ),
            (
                Style::PipeDelimited,
                false,
                [
                    "color=blue",
                    "color=blue%7Cblack%7Cbrown",
                    "color=B%7C150%7CG%7C200%7CR%7C100",
                ],
            ),
        ] {
            let found = [&text, &list, &object].map(|value| query(value, style, explode));
            assert_eq!(found, expected, "{style:?} {explode}");
        }
        assert_eq!(
            query(&object, Style::DeepObject, true),
            "color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100"
        );
        assert_eq!(path(&json!(""), Style::Matrix, false), ";color");
    }

    #[test]
    fn a_separator_inside_a_value_is_encoded() {
        assert_eq!(
            in_query("q", &json!(["a,b", "c&d"]), Style::Form, false, false),
            "q=a%2Cb,c%26d"
        );
        assert_eq!(
            in_path("p", &json!("a/../b"), Style::Simple, false, false),
            "a%2F..%2Fb"
        );
        assert_eq!(in_query("q", &json!([]), Style::Form, false, false), "");
    }
}
