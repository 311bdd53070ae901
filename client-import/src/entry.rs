//! Another client's entry, reduced to the keys of `.mcp.json` that pml knows.
//!
//! One invalid entry would make the whole file unreadable, so only values that are known to be valid
//! are kept.

use serde_json::{Map, Value};

use pml_gateway::config::is_sse_address;

/// The entry for `.mcp.json`, or why there is none.
pub(crate) type Adapted = Result<Map<String, Value>, String>;

/// Keeps the known keys whose values have the right type. The error is one sentence.
pub(crate) fn adapt(name: &str, entry: Value) -> Adapted {
    let Value::Object(entry) = entry else {
        return Err(format!("`{name}` is not an object"));
    };
    let text = |key: &str| {
        entry
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let mut adapted = Map::new();
    match (text("command"), text("url")) {
        (Some(command), None) => {
            adapted.insert("command".to_owned(), command.into());
            let args = entry.get("args").and_then(Value::as_array);
            let args: Vec<Value> = args.into_iter().flatten().filter_map(plain).collect();
            if !args.is_empty() {
                adapted.insert("args".to_owned(), args.into());
            }
            insert_texts(&mut adapted, "env", &entry);
            if let Some(folder) = text("cwd") {
                adapted.insert("cwd".to_owned(), folder.into());
            }
        }
        (None, Some(url)) => {
            let kind = transport(name, url, text("type").or(text("transport")))?;
            adapted.insert("type".to_owned(), kind.into());
            adapted.insert("url".to_owned(), url.into());
            insert_texts(&mut adapted, "headers", &entry);
        }
        (Some(_), Some(_)) => return Err(format!("`{name}` has both a `command` and a `url`")),
        (None, None) => return Err(format!("`{name}` has neither a `command` nor a `url`")),
    }
    for (key, fits) in [
        ("disabled", Value::is_boolean as fn(&Value) -> bool),
        ("enabled", Value::is_boolean),
        ("timeout", Value::is_u64),
        ("startTimeout", Value::is_u64),
        ("description", Value::is_string),
    ] {
        if let Some(value) = entry.get(key).filter(|value| fits(value)) {
            adapted.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(tools) = entry.get("tools").and_then(tools) {
        adapted.insert("tools".to_owned(), tools);
    }
    Ok(adapted)
}

fn transport(name: &str, url: &str, kind: Option<&str>) -> Result<&'static str, String> {
    match kind {
        Some("sse") => Ok("sse"),
        Some("http" | "streamable-http" | "streamableHttp" | "streamable_http" | "remote") => {
            Ok("http")
        }
        Some(other) => Err(format!("`{name}` has an unknown transport: `{other}`")),
        None if is_sse_address(url) => Ok("sse"),
        None => Ok("http"),
    }
}

/// Numbers and booleans as text, as environment variables and headers hold them.
fn plain(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn insert_texts(adapted: &mut Map<String, Value>, key: &str, entry: &Map<String, Value>) {
    let Some(Value::Object(values)) = entry.get(key) else {
        return;
    };
    let values: Map<String, Value> = values
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), plain(value)?)))
        .collect();
    if !values.is_empty() {
        adapted.insert(key.to_owned(), Value::Object(values));
    }
}

/// The tool filter. Some clients write a list of allowed tools, where `*` is all of them.
fn tools(tools: &Value) -> Option<Value> {
    let texts = |list: &Value| {
        let list = list.as_array()?;
        Some(
            list.iter()
                .filter(|tool| tool.is_string())
                .cloned()
                .collect::<Vec<_>>(),
        )
    };
    let mut filter = Map::new();
    match tools {
        Value::Array(_) => {
            let allow = texts(tools)?;
            if !allow.is_empty() && !allow.iter().any(|tool| tool == "*") {
                filter.insert("allow".to_owned(), allow.into());
            }
        }
        Value::Object(lists) => {
            for key in ["allow", "deny"] {
                if let Some(list) = lists.get(key).and_then(texts) {
                    filter.insert(key.to_owned(), list.into());
                }
            }
        }
        _ => {}
    }
    (!filter.is_empty()).then_some(Value::Object(filter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pml_gateway::Config;
    use proptest::prelude::*;
    use serde_json::json;
    use std::path::Path;

    #[test]
    fn keys_that_only_the_client_knows_are_left_out() {
        let entry = json!({"type": "stdio", "command": "x", "gallery": true, "dev": {"watch": "*"}, "autoApprove": []});
        assert_eq!(
            Value::Object(adapt("a", entry).unwrap()),
            json!({"command": "x"})
        );
    }

    #[test]
    fn numbers_and_booleans_become_text() {
        let entry = json!({"command": "x", "args": ["-p", 80], "env": {"PORT": 80, "ON": true, "NONE": null}});
        assert_eq!(
            Value::Object(adapt("a", entry).unwrap()),
            json!({"command": "x", "args": ["-p", "80"], "env": {"PORT": "80", "ON": "true"}})
        );
    }

    #[test]
    fn an_address_that_ends_in_sse_is_the_old_transport() {
        for (url, kind) in [
            ("https://a.test/sse", "sse"),
            ("https://a.test/sse/?key=1", "sse"),
            ("https://a.test/mcp", "http"),
            ("https://a.test/?from=/sse", "http"),
        ] {
            assert_eq!(
                adapt("a", json!({"url": url})).unwrap()["type"],
                kind,
                "{url}"
            );
        }
    }

    #[test]
    fn a_list_of_tools_is_what_is_allowed() {
        let tools = |tools: Value| {
            adapt("a", json!({"command": "x", "tools": tools}))
                .unwrap()
                .remove("tools")
        };
        assert_eq!(
            tools(json!(["read", "list"])),
            Some(json!({"allow": ["read", "list"]}))
        );
        assert_eq!(tools(json!(["*"])), None);
        assert_eq!(
            tools(json!({"deny": ["drop"]})),
            Some(json!({"deny": ["drop"]}))
        );
    }

    #[test]
    fn an_invalid_entry_is_reported_by_name() {
        for (entry, reason) in [
            (json!([]), "is not an object"),
            (json!({"port": 1}), "neither"),
            (json!({"command": "x", "url": "http://x"}), "both"),
            (json!({"url": "http://x", "type": "ws"}), "`ws`"),
        ] {
            let message = adapt("it", entry).unwrap_err();
            assert!(
                message.contains("`it`") && message.contains(reason),
                "{message}"
            );
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z*/${}:]{0,6}".prop_map(Value::from),
            prop::collection::vec("[a-z*]{0,3}", 0..3).prop_map(|list| json!(list)),
            prop::collection::hash_map("[a-z]{1,3}", any::<Option<u8>>(), 0..3)
                .prop_map(|map| json!(map)),
        ]
    }

    const KEYS: [&str; 16] = [
        "type",
        "command",
        "args",
        "env",
        "cwd",
        "headers",
        "disabled",
        "timeout",
        "startTimeout",
        "tools",
        "roots",
        "protocol",
        "description",
        "envs",
        "arg",
        "autoApprove",
    ];

    proptest! {
        /// Every entry that is kept, whatever the client wrote, can be read again.
        #[test]
        fn an_adapted_entry_can_always_be_read(
            members in prop::collection::hash_map(prop::sample::select(&KEYS[..]), any_value(), 0..8),
            url in prop::option::of("https://[a-z]{1,5}\\.test/(sse|mcp)"),
        ) {
            let mut entry = json!(members);
            if let Some(url) = url {
                entry["url"] = url.into();
            }
            if let Ok(entry) = adapt("a", entry) {
                let text = json!({"mcpServers": {"a": entry}}).to_string();
                let read = Config::parse(Path::new(".mcp.json"), &text, &|_| Some("x".to_owned()));
                prop_assert!(read.is_ok(), "{text}: {:?}", read.err());
            }
        }
    }
}
