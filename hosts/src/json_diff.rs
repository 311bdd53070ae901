//! The differences of two JSON values, by path.

use serde_json::Value;

/// How many characters of a value are shown.
const MAX_VALUE_CHARS: usize = 120;

/// One path at which the values differ; `None` for the side without a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub path: String,
    pub recorded: Option<String>,
    pub asked: Option<String>,
}

/// The differences between a recorded value and a requested one.
pub fn between(recorded: &Value, asked: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(String::new(), Some(recorded), Some(asked), &mut found);
    found
}

fn compare(
    path: String,
    recorded: Option<&Value>,
    asked: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    match (recorded, asked) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            for (key, value) in old {
                compare(join(&path, key), Some(value), new.get(key), found);
            }
            for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                compare(join(&path, key), None, Some(value), found);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                let path = format!("{path}[{index}]");
                compare(path, old.get(index), new.get(index), found);
            }
        }
        (old, new) if old == new => {}
        (old, new) => found.push(Difference {
            path,
            recorded: old.map(show),
            asked: new.map(show),
        }),
    }
}

fn join(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        _ => format!("{path}.{key}"),
    }
}

fn show(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_difference_has_its_path() {
        let recorded = json!({ "path": "a", "options": { "deep": [1, 2] }, "gone": true });
        let asked = json!({ "path": "b", "options": { "deep": [1, 3] }, "new": null });
        let paths: Vec<String> = between(&recorded, &asked)
            .into_iter()
            .map(|difference| difference.path)
            .collect();
        assert_eq!(paths, ["path", "options.deep[1]", "gone", "new"]);
        assert_eq!(between(&recorded, &recorded), []);
    }
}
