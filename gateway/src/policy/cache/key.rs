//! Canonical JSON, for cache keys.

use std::fmt::Write;

use serde_json::{Number, Value};

/// Writes JSON with sorted keys, without white space, and with whole numbers as integers: two values
/// are equal as JSON exactly if their texts are.
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    text
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            out.push('{');
            for (n, (name, member)) in members.into_iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                write_value(member, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::String(text) => write_string(text, out),
        Value::Number(number) => write_number(number, out),
        Value::Bool(_) | Value::Null => {
            let _ = write!(out, "{value}");
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = write!(out, "{}", Value::from(text));
}

fn write_number(number: &Number, out: &mut String) {
    /// Up to this, every whole number has a distinct `f64`.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let _ = match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            write!(out, "{}", float as i64)
        }
        _ => write!(out, "{number}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn order_and_number_spelling_do_not_matter() {
        let one: Value =
            serde_json::from_str(r#"{"b": [1.0, -0.0], "a": {"y": 2, "x": null}}"#).unwrap();
        let other: Value = serde_json::from_str(r#"{"a":{"x":null,"y":2.0},"b":[1,0]}"#).unwrap();
        assert_eq!(canonical_json(&one), canonical_json(&other));
        assert_eq!(canonical_json(&one), r#"{"a":{"x":null,"y":2},"b":[1,0]}"#);
    }

    #[test]
    fn different_values_have_different_texts() {
        for (one, other) in [
            (json!({"a": 1}), json!({"a": "1"})),
            (json!([1, 2]), json!([2, 1])),
            (json!({"a": null}), json!({})),
            (json!("a\"b"), json!("a\\\"b")),
            (json!(1.5), json!(1)),
        ] {
            assert_ne!(canonical_json(&one), canonical_json(&other));
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(".{0,4}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_canonical_form_is_json_of_the_same_value(value in any_json()) {
            let text = canonical_json(&value);
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }

        #[test]
        fn two_values_share_a_form_exactly_if_they_are_equal(one in any_json(), other in any_json()) {
            prop_assert_eq!(canonical_json(&one) == canonical_json(&other), one == other);
        }
    }
}
