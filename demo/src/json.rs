//! JSON: whole files, or the part that a pointer names.

use serde::Deserialize;
use serde_json::Value;

use crate::folder::Folder;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadJson {
    path: String,
    #[serde(default)]
    pointer: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryJson {
    json: String,
    #[serde(default)]
    pointer: String,
}

pub fn read(folder: &Folder, wanted: &ReadJson) -> Result<Value, String> {
    part(&folder.text(&wanted.path)?, &wanted.path, &wanted.pointer)
}

pub fn query(wanted: &QueryJson) -> Result<Value, String> {
    part(&wanted.json, "the text", &wanted.pointer)
}

/// `pointer` is a JSON pointer (RFC 6901); an empty one names everything.
fn part(text: &str, origin: &str, pointer: &str) -> Result<Value, String> {
    let mut value: Value =
        serde_json::from_str(text).map_err(|error| format!("{origin} is no JSON: {error}"))?;
    let found = value.pointer_mut(pointer).map(Value::take);
    found.ok_or_else(|| format!("{origin} has nothing at `{pointer}`; a pointer looks like /a/0/b"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pointer_names_a_part_and_an_empty_one_everything() {
        assert_eq!(part(r#"{"a":[1,2]}"#, "x", "/a/1"), Ok(json!(2)));
        assert_eq!(part(r#"{"a":[1,2]}"#, "x", ""), Ok(json!({ "a": [1, 2] })));
        assert!(
            part("{}", "x", "/a")
                .unwrap_err()
                .contains("nothing at `/a`")
        );
        assert!(part("{", "x", "").unwrap_err().contains("x is no JSON"));
    }
}
