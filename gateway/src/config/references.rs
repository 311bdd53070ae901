//! The references to secrets in the entry of a server, and where they may stand.

use pml_credentials::{Reference, Template};
use serde_json::Value;

use super::ConfigError;
use super::document::{Document, KeyPath};
use super::expansions::Expansions;

/// The keys whose values may name secrets: other values are visible to other processes, or are written
/// to logs and reports.
const PLACES: [&str; 3] = ["auth", "env", "headers"];

/// The references in the expanded entry `entry`, each once.
///
/// # Errors
/// A reference is malformed, stands in another place than `env`, `headers` or `auth`, or comes out of a variable.
pub fn references(
    document: &Document,
    entry: &Value,
    at: &KeyPath,
    expansions: &Expansions,
) -> Result<Vec<Reference>, ConfigError> {
    let is_injected = |(_, value): &&(String, String)| Template::has_reference(value);
    if let Some((name, _)) = expansions.iter().find(is_injected) {
        return Err(document.invalid(
            at,
            format!("the value of the variable {name} names a secret, which only the file itself may do: write the reference here"),
        ));
    }
    let mut found = Vec::new();
    for (key, value) in entry.as_object().into_iter().flatten() {
        let at = at.key(key.as_str());
        match PLACES.contains(&key.as_str()) {
            true => collect(document, value, &at, &mut found)?,
            false => refuse(document, value, &at)?,
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// The references below a place where they may stand: texts, and the objects of `auth`.
fn collect(
    document: &Document,
    value: &Value,
    at: &KeyPath,
    found: &mut Vec<Reference>,
) -> Result<(), ConfigError> {
    match value {
        Value::String(text) if Template::has_reference(text) => {
            let template = Template::parse(text);
            let template = template.map_err(|error| document.invalid(at, error.to_string()))?;
            found.extend(template.references().cloned());
            Ok(())
        }
        Value::Object(map) => map
            .iter()
            .try_for_each(|(key, value)| collect(document, value, &at.key(key.as_str()), found)),
        value => refuse(document, value, at),
    }
}

fn refuse(document: &Document, value: &Value, at: &KeyPath) -> Result<(), ConfigError> {
    match value {
        Value::String(text) if Template::has_reference(text) => Err(document.invalid(
            at,
            "names a secret in a place that other processes or logs see: write the reference in `env`, `headers` or `auth`",
        )),
        Value::Array(values) => values
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| refuse(document, value, &at.index(index))),
        Value::Object(map) => map
            .iter()
            .try_for_each(|(key, value)| refuse(document, value, &at.key(key.as_str()))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::Config;
    use crate::config::ConfigError;

    fn parse(entry: &str) -> Result<Vec<String>, ConfigError> {
        let text = format!("{{ \"mcpServers\": {{\n \"s\": {entry} }} }}");
        let variables = |name: &str| match name {
            "PLAIN" => Some("plain".to_owned()),
            "BRANCH" => Some("${secret:exec/curl evil.example}".to_owned()),
            _ => None,
        };
        let config = Config::parse(Path::new("m.json"), &text, &variables)?;
        let references = config.servers["s"].references.iter();
        Ok(references.map(ToString::to_string).collect())
    }

    #[test]
    fn env_and_headers_may_name_secrets() {
        let found = parse(
            r#"{ "command": "x", "env": { "A": "${secret:env/A}", "B": "${PLAIN}-${secret:file/b}${secret:env/A}" } }"#,
        );
        assert_eq!(found.unwrap(), ["secret:env/A", "secret:file/b"]);
        let found = parse(
            r#"{ "url": "https://a.example", "headers": { "Authorization": "Bearer ${secret:vault/secret/data/a#b}" } }"#,
        );
        assert_eq!(found.unwrap(), ["secret:vault/secret/data/a#b"]);
        assert_eq!(parse(r#"{ "command": "x" }"#).unwrap(), [""; 0]);
    }

    #[test]
    fn a_secret_in_another_place_is_refused_in_one_sentence() {
        for (entry, key) in [
            (
                r#"{ "command": "${secret:env/A}" }"#,
                "mcpServers.s.command",
            ),
            (
                r#"{ "command": "x", "args": ["-k", "${secret:env/A}"] }"#,
                "mcpServers.s.args[1]",
            ),
            (
                r#"{ "command": "x", "cwd": "${secret:env/A}" }"#,
                "mcpServers.s.cwd",
            ),
            (
                r#"{ "url": "https://a.example/?key=${secret:env/A}" }"#,
                "mcpServers.s.url",
            ),
        ] {
            let error = parse(entry).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
            assert!(
                error.ends_with("write the reference in `env`, `headers` or `auth`"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_malformed_reference_is_named_with_its_line_and_key() {
        let error = parse(r#"{ "command": "x", "env": { "A": "${secret:envs/A}" } }"#);
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("m.json:2: `mcpServers.s.env.A`: `${secret:envs/A}`"),
            "{error}"
        );
    }

    #[test]
    fn the_value_of_a_variable_cannot_name_a_secret() {
        let error = parse(r#"{ "command": "x", "env": { "A": "${BRANCH}" } }"#);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("the variable BRANCH names a secret"),
            "{error}"
        );
        assert!(!error.contains("evil"), "{error}");
    }
}
