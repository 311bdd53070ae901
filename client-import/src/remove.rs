//! Removes one server from a configuration file, and leaves the rest of the file as it is.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use pml_files::write_atomic;
use pml_gateway::Config;

use crate::add::{access, not_edited};
use crate::error::ImportError;

/// Removes the server `name` from the file at `path`, with its comments and its formatting kept.
///
/// # Errors
/// The file is invalid or has no such server, or cannot be written. Nothing is written then.
pub fn remove_server(path: &Path, name: &str) -> Result<(), ImportError> {
    // The file behind a symbolic link is replaced, not the link.
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let text = without_server(path, &Config::read_text(&file)?, name)?;
    let written = write_atomic(&file, text.as_bytes(), access(&file));
    written.map_err(|source| ImportError::Write {
        path: path.to_owned(),
        source,
    })
}

/// The content of the file without the server.
fn without_server(path: &Path, text: &str, name: &str) -> Result<String, ImportError> {
    // Values do not matter, and a variable that is not set is not an error of the file.
    let servers = Config::parse(path, text, &|_| None)?.servers;
    if !servers.contains_key(name) {
        return Err(ImportError::NoServer {
            path: path.to_owned(),
            name: name.to_owned(),
            known: servers.into_keys().collect(),
        });
    }
    let not_edited = || not_edited(path);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|_| not_edited())?;
    let top = root.object_value().ok_or_else(not_edited)?;
    for key in ["mcpServers", "servers"] {
        let listed = top.object_value(key);
        if let Some(entry) = listed.and_then(|listed| listed.get(name)) {
            entry.remove();
        }
    }
    let edited = root.to_string();
    match Config::parse(path, &edited, &|_| None)?
        .servers
        .contains_key(name)
    {
        false => Ok(edited),
        true => Err(not_edited()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remove(text: &str, name: &str) -> Result<String, String> {
        without_server(Path::new("m.json"), text, name).map_err(|error| error.to_string())
    }

    #[test]
    fn the_other_servers_and_the_comments_stay() {
        let before = "{\n  // Ours.\n  \"mcpServers\": {\n    \"fs\": { \"command\": \"npx\" }, // files\n    \"api\": { \"url\": \"https://a.test/mcp\" }\n  },\n  \"pml\": { \"limits\": { \"maxCalls\": 3 } }\n}\n";
        let after = remove(before, "api").unwrap();
        assert!(
            after.contains("// Ours.") && after.contains("// files"),
            "{after}"
        );
        assert!(
            after.contains("\"fs\"") && !after.contains("\"api\""),
            "{after}"
        );
        let after = remove(&after, "fs").unwrap();
        assert!(after.contains("\"maxCalls\": 3"), "{after}");
        assert!(
            Config::parse(Path::new("m.json"), &after, &|_| None)
                .unwrap()
                .servers
                .is_empty()
        );
    }

    #[test]
    fn the_form_of_vs_code_loses_the_server_too() {
        let after = remove(r#"{ "servers": { "a": { "command": "x" } } }"#, "a").unwrap();
        let value: serde_json::Value = serde_json::from_str(&after).unwrap();
        assert_eq!(value, serde_json::json!({ "servers": {} }));
    }

    #[test]
    fn a_name_that_is_not_there_is_refused_with_the_nearest() {
        let file = r#"{ "mcpServers": { "files": { "command": "x" }, "b": { "command": "y" } } }"#;
        let error = remove(file, "fiels").unwrap_err();
        assert_eq!(
            error,
            "m.json has no server `fiels`; it has `b` and `files`"
        );
    }
}
