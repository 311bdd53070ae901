//! The Cedar schema: what policies can speak of, for editors and for validation.
//!
//! A call of a tool is an action of its own in the group `call`, with the tool's arguments as
//! `context.args`. What JSON Schema can say and Cedar cannot (unions, maps, nested references) is left
//! out: a policy cannot look at it.

use std::fmt::Write;

use serde_json::{Map, Value};

/// How deep arguments are described.
const MAX_DEPTH: usize = 6;

/// The part that is the same for all tools.
const BASE: &str = r#"// Who asks: "local" is the user of this machine, others are names of tokens.
entity Tenant;
entity Principal in [Tenant] = { name: String, tenant: String };

// Tools, and what servers offer besides them. A tool is in every glob that matches it.
entity Server;
entity Glob;
entity Tool in [Server, Glob] = {
  server: String, name: String,
  // "read", "idempotent", "keyed" or "guarded"
  effect: String,
  // What its server claims, with the defaults of MCP.
  readOnlyHint: Bool, destructiveHint: Bool, idempotentHint: Bool, openWorldHint: Bool,
};
// `fs:resources` and `fs:prompts`
entity Offers in [Server, Glob] = { server: String, name: String };
// The stored values of a session.
entity Storage;

// What a run or the model of a session has read.
type Label = { untrusted: Bool, private: Set<String> };

// Who may call a tool sees it. These can only be forbidden.
action see;
action list, search, describe in [see] appliesTo { principal: [Principal], resource: [Tool], context: {} };
// A forbidden `callUnapproved` is a call that a person has to approve.
action callUnapproved appliesTo { principal: [Principal], resource: [Tool], context: { time: datetime, run: Label, session: Label } };
action readResource appliesTo { principal: [Principal], resource: [Offers], context: { uri?: String, time: datetime, run: Label, session: Label } };
action getPrompt appliesTo { principal: [Principal], resource: [Offers], context: { name?: String, args: {}, time: datetime, run: Label, session: Label } };
action store, load appliesTo { principal: [Principal], resource: [Storage], context: { key?: String, time: datetime, run: Label, session: Label } };

// Calls. Each tool is an action of this group.
action call;
"#;

/// The schema of these tools, given as their ids and input schemas.
pub fn schema<'a>(tools: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    let mut text = BASE.to_owned();
    for (id, input) in tools {
        let args = record(input, input, MAX_DEPTH).unwrap_or_else(|| "{}".to_owned());
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "action {} in [call] appliesTo {{ principal: [Principal], resource: [Tool], context: {{ args: {args}, time: datetime, run: Label, session: Label }} }};",
            quoted(id)
        );
    }
    text
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.escape_debug())
}

/// The record type of an object schema.
fn record(schema: &Value, root: &Value, depth: usize) -> Option<String> {
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let fields = properties.iter().filter_map(|(name, property)| {
        let is_nullable = property["type"]
            .as_array()
            .is_some_and(|types| types.iter().any(|name| name == "null"));
        let mark = match required.contains(&name.as_str()) && !is_nullable {
            true => "",
            false => "?",
        };
        let value = value_type(property, root, depth.checked_sub(1)?)?;
        Some(format!("{}{mark}: {value}", quoted(name)))
    });
    let fields: Vec<String> = fields.collect();
    Some(format!("{{ {} }}", fields.join(", ")).replace("{  }", "{}"))
}

/// `None` for what Cedar cannot describe.
fn value_type(schema: &Value, root: &Value, depth: usize) -> Option<String> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = reference.strip_prefix('#')?;
        return value_type(root.pointer(pointer)?, root, depth.checked_sub(1)?);
    }
    let name = match &schema["type"] {
        Value::String(name) => name.as_str(),
        Value::Array(names) => match nonnull(names).as_slice() {
            [name] => *name,
            _ => return None,
        },
        _ => return literal_type(schema.as_object()?),
    };
    Some(match name {
        "string" => "String".to_owned(),
        // Fractions have no type in Cedar: comparing one is an error, and an error denies.
        "integer" | "number" => "Long".to_owned(),
        "boolean" => "Bool".to_owned(),
        "array" => {
            let items = value_type(schema.get("items")?, root, depth.checked_sub(1)?)?;
            format!("Set<{items}>")
        }
        "object" => record(schema, root, depth)?,
        _ => return None,
    })
}

fn nonnull(names: &[Value]) -> Vec<&str> {
    let names = names.iter().filter_map(Value::as_str);
    names.filter(|name| *name != "null").collect()
}

/// The type of an enumeration of texts without a `type`.
fn literal_type(schema: &Map<String, Value>) -> Option<String> {
    let values = schema.get("enum")?.as_array()?;
    let is_text = values.iter().all(Value::is_string);
    is_text.then(|| "String".to_owned())
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use cedar_policy::Schema;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_of_awkward_tools_is_valid_cedar() {
        let awkward = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "a \"b\" \u{200b}": { "type": ["integer", "null"] },
                "tags": { "type": "array", "items": { "enum": ["x", "y"] } },
                "either": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
                "in": { "$ref": "#/$defs/node" },
                "empty": { "type": "object", "properties": {} },
                "anything": {}
            },
            "required": ["path", "a \"b\" \u{200b}"],
            "$defs": { "node": { "type": "object", "properties": { "next": { "$ref": "#/$defs/node" }, "n": { "type": "number" } } } }
        });
        let text = schema([("fs:awk\"ward", &awkward), ("fs:none", &json!({}))]);
        let read = Schema::from_str(&text);
        assert!(read.is_ok(), "{text}\n{:?}", read.err());
        assert!(text.contains(r#""path": String"#), "{text}");
        assert!(text.contains(r#""tags"?: Set<String>"#), "{text}");
        assert!(!text.contains("either"), "{text}");
    }
}
