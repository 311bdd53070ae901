//! Writes the merged list to a `.mcp.json`.

use std::io;
use std::path::Path;

use pml_files::{Access, create_new, write_atomic};
use serde_json::{Map, Value, json};

use crate::error::ImportError;
use crate::merge::MergedServer;

/// Writes the servers to `path`, with mode 0600: the entries of other clients may hold tokens.
///
/// # Errors
/// The file exists and `force` is not set, or it cannot be written.
pub fn write_config(path: &Path, servers: &[MergedServer], force: bool) -> Result<(), ImportError> {
    let servers: Map<String, Value> = servers
        .iter()
        .map(|server| (server.name.clone(), Value::Object(server.entry.clone())))
        .collect();
    let text = format!("{:#}\n", json!({ "mcpServers": servers }));
    let written = if force {
        write_atomic(path, text.as_bytes(), Access::OwnerOnly)
    } else {
        create_new(path, text.as_bytes(), Access::OwnerOnly)
    };
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => ImportError::Exists {
            path: path.to_owned(),
        },
        _ => ImportError::Write {
            path: path.to_owned(),
            source,
        },
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn servers(command: &str) -> Vec<MergedServer> {
        vec![MergedServer {
            name: "fs".to_owned(),
            entry: json!({ "command": command }).as_object().unwrap().clone(),
            sources: Vec::new(),
            notes: Vec::new(),
        }]
    }

    fn command_in(path: &Path) -> Value {
        let text = fs::read_to_string(path).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["mcpServers"]["fs"]["command"].clone()
    }

    #[test]
    fn an_existing_file_is_replaced_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".mcp.json");
        write_config(&path, &servers("first"), false).unwrap();
        let error = write_config(&path, &servers("second"), false).unwrap_err();
        assert!(error.to_string().contains("--force"), "{error}");
        assert_eq!(command_in(&path), "first");
        write_config(&path, &servers("second"), true).unwrap();
        assert_eq!(command_in(&path), "second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".mcp.json");
        for force in [false, true] {
            write_config(&path, &servers("x"), force).unwrap();
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_missing_folder_is_a_write_error() {
        let error =
            write_config(Path::new("/nowhere/at/all/.mcp.json"), &servers("x"), false).unwrap_err();
        assert!(matches!(error, ImportError::Write { .. }), "{error}");
    }
}
