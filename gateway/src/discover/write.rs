//! The merged list as a `.mcp.json`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::error::DiscoverError;
use super::merge::MergedServer;

/// Writes the servers to `path`. A file that is there stays as it is unless `force` is set.
///
/// Only the owner can read it: the entries of other clients may hold tokens.
pub fn write_config(
    path: &Path,
    servers: &[MergedServer],
    force: bool,
) -> Result<(), DiscoverError> {
    let servers: Map<String, Value> = servers
        .iter()
        .map(|server| (server.name.clone(), Value::Object(server.entry.clone())))
        .collect();
    let text = format!("{:#}\n", json!({ "mcpServers": servers }));
    let written = if force {
        replace(path, &text)
    } else {
        create(path, &text)
    };
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => DiscoverError::Exists {
            path: path.to_owned(),
        },
        _ => DiscoverError::Write {
            path: path.to_owned(),
            source,
        },
    })
}

/// Fails if anything has this name, also a link that leads nowhere: looking first and writing
/// then would leave a moment between the two.
fn create(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Writes beside the file and moves the result over it, so that the old one is there until the
/// new one is whole.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{:08x}.new", fastrand::u32(..)));
    let beside = Path::new(&beside);
    let written = create(beside, text).and_then(|()| fs::rename(beside, path));
    if written.is_err() {
        // It may hold tokens; that it cannot be removed changes nothing.
        let _ = fs::remove_file(beside);
    }
    written
}

#[cfg(test)]
mod tests {
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
    fn a_file_that_is_there_is_replaced_only_by_force() {
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
    fn a_folder_that_is_not_there_is_named() {
        let error =
            write_config(Path::new("/nowhere/at/all/.mcp.json"), &servers("x"), false).unwrap_err();
        assert!(matches!(error, DiscoverError::Write { .. }), "{error}");
    }
}
