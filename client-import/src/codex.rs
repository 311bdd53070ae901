//! Codex's `config.toml`, translated to entries of `.mcp.json`.

use serde_json::{Map, Value, json};

/// The servers below `mcp_servers`, by name.
pub(crate) fn servers(text: &str) -> Result<Map<String, Value>, String> {
    let document: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        // The first line has the message and the position; the others quote the file.
        error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    })?;
    let document = serde_json::to_value(document).map_err(|error| error.to_string())?;
    match document.get("mcp_servers") {
        None => Ok(Map::new()),
        Some(Value::Object(servers)) => Ok(servers
            .iter()
            .map(|(name, server)| (name.clone(), translate(server)))
            .collect()),
        Some(_) => Err("`mcp_servers` is not a table".to_owned()),
    }
}

fn translate(server: &Value) -> Value {
    let Value::Object(server) = server else {
        // `adapt` reports it by name.
        return server.clone();
    };
    let mut entry = Map::new();
    for key in ["command", "args", "cwd", "url"] {
        if let Some(value) = server.get(key) {
            entry.insert(key.to_owned(), value.clone());
        }
    }
    if entry.contains_key("url") {
        entry.insert("type".to_owned(), "http".into());
    }
    insert_unless_empty(&mut entry, "env", environment(server));
    insert_unless_empty(&mut entry, "headers", headers(server));
    if server.get("enabled") == Some(&Value::Bool(false)) {
        entry.insert("disabled".to_owned(), true.into());
    }
    for (key, name) in [
        ("tool_timeout_sec", "timeout"),
        ("startup_timeout_sec", "startTimeout"),
    ] {
        if let Some(seconds) = server.get(key).and_then(Value::as_f64) {
            entry.insert(name.to_owned(), json!((seconds * 1000.0) as u64));
        }
    }
    let mut tools = Map::new();
    for (key, name) in [("enabled_tools", "allow"), ("disabled_tools", "deny")] {
        if let Some(list) = server.get(key) {
            tools.insert(name.to_owned(), list.clone());
        }
    }
    insert_unless_empty(&mut entry, "tools", tools);
    Value::Object(entry)
}

/// `env`, and the variables of `env_vars`, which are passed through.
fn environment(server: &Map<String, Value>) -> Map<String, Value> {
    let mut env = object(server, "env");
    for name in server
        .get("env_vars")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(name) = name.as_str() {
            env.insert(name.to_owned(), format!("${{{name}}}").into());
        }
    }
    env
}

/// `http_headers`, and the headers whose value or token is in a variable.
fn headers(server: &Map<String, Value>) -> Map<String, Value> {
    let mut headers = object(server, "http_headers");
    for (header, variable) in object(server, "env_http_headers") {
        if let Some(variable) = variable.as_str() {
            headers.insert(header, format!("${{{variable}}}").into());
        }
    }
    if let Some(variable) = server.get("bearer_token_env_var").and_then(Value::as_str) {
        headers.insert(
            "Authorization".to_owned(),
            format!("Bearer ${{{variable}}}").into(),
        );
    }
    headers
}

fn object(server: &Map<String, Value>, key: &str) -> Map<String, Value> {
    server
        .get(key)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn insert_unless_empty(entry: &mut Map<String, Value>, key: &str, value: Map<String, Value>) {
    if !value.is_empty() {
        entry.insert(key.to_owned(), Value::Object(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_server_is_translated() {
        let servers = servers(
            r#"
            model = "something"
            [mcp_servers.docs]
            command = "npx"
            args = ["-y", "docs"]
            env_vars = ["HOME_TOKEN"]
            tool_timeout_sec = 2.5
            enabled = false
            disabled_tools = ["drop"]
            [mcp_servers.docs.env]
            A = "1"
            "#,
        )
        .unwrap();
        assert_eq!(
            servers["docs"],
            json!({
                "command": "npx", "args": ["-y", "docs"], "disabled": true, "timeout": 2500,
                "env": {"A": "1", "HOME_TOKEN": "${HOME_TOKEN}"}, "tools": {"deny": ["drop"]}
            })
        );
    }

    #[test]
    fn tokens_in_variables_become_headers() {
        let servers = servers(
            "[mcp_servers.api]\nurl = \"https://api.test/mcp\"\nbearer_token_env_var = \"API_TOKEN\"\n\
             env_http_headers = { X-Team = \"TEAM\" }\nhttp_headers = { X-A = \"b\" }\n",
        )
        .unwrap();
        assert_eq!(
            servers["api"],
            json!({
                "type": "http", "url": "https://api.test/mcp",
                "headers": {"Authorization": "Bearer ${API_TOKEN}", "X-Team": "${TEAM}", "X-A": "b"}
            })
        );
    }

    #[test]
    fn a_file_without_servers_has_none() {
        assert!(servers("model = \"x\"").unwrap().is_empty());
    }
}
