//! Adds one server to a configuration file, and leaves the rest of the file as it is.

use std::io;
use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use pml_files::{Access, create_new, write_atomic};
use pml_gateway::Config;
use pml_gateway::config::{ConfigError, ServerTrust};
use serde_json::{Map, Value};

use crate::error::ImportError;

/// Adds the server `name` to the file at `path`, with its comments and its formatting kept. A file that
/// does not exist is created, with mode 0600.
///
/// The file is replaced as a whole, so a reader sees it with the server or without.
///
/// # Errors
/// The file is invalid or has a server of that name, the name or the entry is invalid, or the file
/// cannot be written. Nothing is written then.
pub fn add_server(path: &Path, name: &str, entry: &Map<String, Value>) -> Result<(), ImportError> {
    // The file behind a symbolic link is replaced, not the link.
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let existing = match Config::read_text(&file) {
        Ok(text) => Some(text),
        Err(ConfigError::Unreadable { .. }) if !file.exists() => None,
        Err(error) => return Err(error.into()),
    };
    let text = with_server(path, existing.as_deref().unwrap_or_default(), name, entry)?;
    let written = match existing {
        Some(_) => write_atomic(&file, text.as_bytes(), access(&file)),
        None => create_new(&file, text.as_bytes(), Access::OwnerOnly),
    };
    written.map_err(|source| ImportError::Write {
        path: path.to_owned(),
        source,
    })
}

/// Writes `"trust": "annotations"` into the entry of the server `name`, with everything else kept. Returns
/// `false` for an entry that says something else about trust, which stays.
///
/// # Errors
/// The file is invalid or has no such server, or cannot be written. Nothing is written then.
pub fn trust_annotations(path: &Path, name: &str) -> Result<bool, ImportError> {
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Some(text) = with_trust(path, &Config::read_text(&file)?, name)? else {
        return Ok(false);
    };
    let written = write_atomic(&file, text.as_bytes(), access(&file));
    written.map_err(|source| ImportError::Write {
        path: path.to_owned(),
        source,
    })?;
    Ok(true)
}

/// The content of the file with the annotations of a server trusted; `None` if its entry has `trust`.
fn with_trust(path: &Path, text: &str, name: &str) -> Result<Option<String>, ImportError> {
    let not_edited = || not_edited(path);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|_| not_edited())?;
    let top = root.object_value().ok_or_else(not_edited)?;
    let servers = ["mcpServers", "servers"]
        .iter()
        .find_map(|key| top.object_value(key));
    let entry = servers.and_then(|servers| servers.object_value(name));
    let entry = entry.ok_or_else(not_edited)?;
    if entry.get("trust").is_some() {
        return Ok(None);
    }
    entry.append("trust", CstInputValue::String("annotations".to_owned()));
    let edited = root.to_string();
    let parsed = Config::parse(path, &edited, &|_| None)?;
    match parsed.servers.get(name) {
        Some(server) if server.trust == ServerTrust::Annotations => Ok(Some(edited)),
        _ => Err(not_edited()),
    }
}

pub(crate) fn not_edited(path: &Path) -> ImportError {
    ImportError::Write {
        path: path.to_owned(),
        source: io::Error::other("it cannot be edited as JSON"),
    }
}

/// The content of the file with the server in it.
fn with_server(
    path: &Path,
    text: &str,
    name: &str,
    entry: &Map<String, Value>,
) -> Result<String, ImportError> {
    // Values do not matter, and a variable that is not set is not an error of the file.
    let parse = |text: &str| Config::parse(path, text, &|_| None);
    if parse(text)?.servers.contains_key(name) {
        return Err(ImportError::NameTaken {
            path: path.to_owned(),
            name: name.to_owned(),
        });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let not_edited = || not_edited(path);
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|_| not_edited())?;
    let top = root.object_value_or_create().ok_or_else(not_edited)?;
    // VS Code calls it `servers`.
    let key = match top.get("mcpServers").is_none() && top.get("servers").is_some() {
        true => "servers",
        false => "mcpServers",
    };
    let servers = top.object_value_or_create(key).ok_or_else(not_edited)?;
    servers.append(name, input(&Value::Object(entry.clone())));
    top.ensure_multiline();
    servers.ensure_multiline();
    let mut edited = root.to_string();
    if !edited.ends_with('\n') {
        edited.push('\n');
    }
    match parse(&edited)?.servers.contains_key(name) {
        true => Ok(edited),
        false => Err(not_edited()),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(members.collect())
        }
    }
}

/// A file that others may read stays readable, and one with tokens does not become so.
pub(crate) fn access(file: &Path) -> Access {
    #[cfg(unix)]
    if let Ok(metadata) = file.metadata() {
        use std::os::unix::fs::PermissionsExt;
        if metadata.permissions().mode() & 0o077 == 0 {
            return Access::OwnerOnly;
        }
    }
    let _ = file;
    Access::Umask
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn add(text: &str, name: &str, entry: Value) -> Result<String, String> {
        with_server(Path::new("m.json"), text, name, entry.as_object().unwrap())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn comments_and_other_keys_stay_as_they_are() {
        let before = "{\n  // Ours.\n  \"mcpServers\": {\n    \"fs\": { \"command\": \"npx\" } // files\n  },\n  \"pml\": { \"limits\": { \"maxCalls\": 3 } }\n}\n";
        let after = add(before, "api", json!({ "url": "https://a.test/mcp" })).unwrap();
        assert_eq!(
            after,
            "{\n  // Ours.\n  \"mcpServers\": {\n    \"fs\": { \"command\": \"npx\" }, // files\n    \"api\": {\n      \"url\": \"https://a.test/mcp\"\n    }\n  },\n  \"pml\": { \"limits\": { \"maxCalls\": 3 } }\n}\n"
        );
    }

    #[test]
    fn the_trust_of_a_server_is_added_to_its_entry_and_not_replaced() {
        let trust = |text: &str, name: &str| {
            with_trust(Path::new("m.json"), text, name).map_err(|error| error.to_string())
        };
        let file = r#"{ "mcpServers": { "fs": { "command": "npx" /* ours */ }, "b": { "url": "https://b.test", "trust": false } } }"#;
        let after = trust(file, "fs").unwrap().unwrap();
        assert!(after.contains("/* ours */"), "{after}");
        let config = Config::parse(Path::new("m.json"), &after, &|_| None).unwrap();
        assert_eq!(
            config.servers["fs"].trust,
            ServerTrust::Annotations,
            "{after}"
        );
        assert_eq!(trust(&after, "b"), Ok(None));
        assert!(trust(file, "c").is_err());
    }

    #[test]
    fn an_empty_file_and_the_form_of_vs_code_get_the_server() {
        for (before, key) in [
            ("", "mcpServers"),
            ("{}", "mcpServers"),
            ("{ \"pml\": {} }", "mcpServers"),
            ("\u{feff}{ \"servers\": {} }", "servers"),
        ] {
            let entry = json!({ "command": "a \"b\"\\", "args": ["-x", "\n"] });
            let after = add(before, "fs", entry.clone()).unwrap();
            let value: Value = serde_json::from_str(&after).unwrap();
            assert_eq!(value[key]["fs"], entry, "{after}");
        }
    }

    #[test]
    fn a_name_that_is_taken_or_invalid_is_refused() {
        let file = r#"{ "mcpServers": { "fs": { "command": "x" } } }"#;
        let error = add(file, "fs", json!({ "command": "y" })).unwrap_err();
        assert_eq!(
            error,
            "m.json already has a server `fs`: choose another name, or change the entry in the file"
        );
        let error = add(file, "a:b", json!({ "command": "y" })).unwrap_err();
        assert!(error.contains("invalid server name"), "{error}");
        let error = add(file, "b", json!({ "url": "ftp://x" })).unwrap_err();
        assert!(error.contains("is not an http:// or https://"), "{error}");
        let error = add("{ nonsense", "b", json!({ "command": "y" })).unwrap_err();
        assert!(error.contains("not valid JSON"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_the_owners_and_an_existing_one_keeps_its_readers() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let entry = json!({ "command": "x" }).as_object().unwrap().clone();
        let path = folder.path().join(".mcp.json");
        add_server(&path, "a", &entry).unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        add_server(&path, "b", &entry).unwrap();
        assert_ne!(mode(&path) & 0o044, 0, "{:o}", mode(&path));
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        add_server(&link, "c", &entry).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(Config::load(&path).unwrap().servers.len(), 3);
    }
}
