//! The JSON tools: parse a file or a text, and return the value at a JSON pointer.

use serde::Deserialize;
use serde_json::Value;

use crate::served_folder::ServedFolder;

/// Arguments of `read_json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadJson {
    path: String,
    #[serde(default)]
    pointer: String,
}

/// Arguments of `query_json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryJson {
    json: String,
    #[serde(default)]
    pointer: String,
}

/// Runs `read_json`.
pub fn read(folder: &ServedFolder, request: &ReadJson) -> Result<Value, String> {
    value_at(
        &folder.text(&request.path)?,
        &request.path,
        &request.pointer,
    )
}

/// Runs `query_json`.
pub fn query(request: &QueryJson) -> Result<Value, String> {
    value_at(&request.json, "the text", &request.pointer)
}

/// Parses `text` and returns the value at `pointer`, a JSON pointer (RFC 6901); an empty one is the whole
/// value.
fn value_at(text: &str, origin: &str, pointer: &str) -> Result<Value, String> {
    let mut value: Value = serde_json::from_str(text)
        .map_err(|error| format!("{origin} is not valid JSON: {error}"))?;
    let found = value.pointer_mut(pointer).map(Value::take);
    found.ok_or_else(|| format!("{origin} has nothing at `{pointer}`; a pointer looks like /a/0/b"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pointer_selects_a_part_and_an_empty_one_everything() {
        assert_eq!(value_at(r#"{"a":[1,2]}"#, "x", "/a/1"), Ok(json!(2)));
        assert_eq!(
            value_at(r#"{"a":[1,2]}"#, "x", ""),
            Ok(json!({ "a": [1, 2] }))
        );
        assert!(
            value_at("{}", "x", "/a")
                .unwrap_err()
                .contains("nothing at `/a`")
        );
        assert!(
            value_at("{", "x", "")
                .unwrap_err()
                .contains("x is not valid JSON")
        );
    }
}
