//! The shape of a value that must not be read: words of pml and numbers. The names of properties are data,
//! too, and are not part of it.

use serde_json::Value;

/// The shape of a value: `a list of 12 objects with 3 to 5 properties`.
pub fn of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(text) => format!("a text of {} characters", text.chars().count()),
        Value::Object(map) => format!("an object with {} properties", map.len()),
        Value::Array(items) => list(items),
    }
}

fn list(items: &[Value]) -> String {
    let count = items.len();
    let all = |is: fn(&Value) -> bool| count > 0 && items.iter().all(is);
    let range = |size: fn(&Value) -> usize| {
        let (least, most) = items
            .iter()
            .map(size)
            .fold((usize::MAX, 0), |(a, b), size| (a.min(size), b.max(size)));
        match least == most {
            true => most.to_string(),
            false => format!("{least} to {most}"),
        }
    };
    if all(Value::is_object) {
        let properties = range(|item| item.as_object().map_or(0, serde_json::Map::len));
        return format!("a list of {count} objects with {properties} properties");
    }
    if all(Value::is_string) {
        let length = range(|item| item.as_str().map_or(0, |text| text.chars().count()));
        return format!("a list of {count} texts of {length} characters");
    }
    let kind = match items {
        _ if all(Value::is_number) => "numbers",
        _ if all(Value::is_boolean) => "booleans",
        _ if all(Value::is_array) => "lists",
        _ => "values",
    };
    format!("a list of {count} {kind}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_shape_has_kinds_and_numbers_and_no_data() {
        for (value, shape) in [
            (json!(null), "null"),
            (json!("secret"), "a text of 6 characters"),
            (json!({ "secret": 1 }), "an object with 1 properties"),
            (json!([]), "a list of 0 values"),
            (json!([1, 2]), "a list of 2 numbers"),
            (
                json!(["a", "bcd"]),
                "a list of 2 texts of 1 to 3 characters",
            ),
            (
                json!([{ "secret": 1 }, {}]),
                "a list of 2 objects with 0 to 1 properties",
            ),
            (json!([1, "a"]), "a list of 2 values"),
        ] {
            assert_eq!(of(&value), shape);
        }
    }
}
