//! Reads the servers of every known client.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use serde_json::{Map, Value};

use crate::client::{Client, ConfigFile, Format, Scope};
use crate::client_dirs::ClientDirs;
use crate::codex;
use crate::entry::adapt;
use crate::variables::rewrite;

/// The servers that were found, and the files and entries that could not be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// In the order of clients and files, by name within a file.
    pub servers: Vec<FoundServer>,
    /// In the same order.
    pub problems: Vec<Problem>,
}

/// One server of one client, with the keys of `.mcp.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundServer {
    /// Its name in the client.
    pub name: String,
    /// Where it was found.
    pub source: Source,
    /// Its entry for `.mcp.json`.
    pub entry: Map<String, Value>,
    /// What the user has to do before it works here.
    pub notes: Vec<String>,
}

/// Where a server was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The client that it is configured in.
    pub client: Client,
    /// Where the client uses it.
    pub scope: Scope,
    /// The file of the client.
    pub path: PathBuf,
}

/// A file or an entry that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub source: Source,
    /// What is wrong with it, in one sentence.
    pub message: String,
}

/// Finds the servers of every known client, of this user and of `project`. A file that cannot be
/// read is a [`Problem`]; the others are read all the same.
pub fn find(dirs: &ClientDirs, project: Option<&Path>) -> Found {
    let mut found = Found::default();
    for client in Client::ALL {
        for file in client.config_files(dirs, project) {
            let source = Source {
                client,
                scope: file.scope,
                path: file.path.clone(),
            };
            match read(&file, project) {
                Ok(entries) => {
                    for (name, scope, entry) in entries {
                        let source = Source {
                            scope,
                            ..source.clone()
                        };
                        found.add(name, entry, source, dirs, project);
                    }
                }
                Err(message) => found.problems.push(Problem { source, message }),
            }
        }
    }
    found
}

impl Found {
    fn add(
        &mut self,
        name: String,
        entry: Value,
        source: Source,
        dirs: &ClientDirs,
        project: Option<&Path>,
    ) {
        let env_file = entry.get("envFile").and_then(Value::as_str);
        let env_file =
            env_file.map(|file| format!("copy the variables it needs from `{file}` into `env`"));
        let mut entry = match adapt(&name, entry) {
            Ok(entry) => entry,
            Err(message) => {
                self.problems.push(Problem { source, message });
                return;
            }
        };
        if is_pml(&entry) {
            return;
        }
        let mut notes = rewrite(&mut entry, dirs, project);
        notes.extend(env_file);
        self.servers.push(FoundServer {
            name,
            source,
            entry,
            notes,
        });
    }
}

/// Whether the entry starts `pml serve`: a gateway that is its own server would recurse without
/// end.
fn is_pml(entry: &Map<String, Value>) -> bool {
    let program = entry
        .get("command")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let serves = entry
        .get("args")
        .and_then(Value::as_array)
        .is_some_and(|args| args.iter().any(|arg| arg == "serve"));
    matches!(program, "pml" | "pml.exe") && serves
}

type Entries = Vec<(String, Scope, Value)>;

fn read(file: &ConfigFile, project: Option<&Path>) -> Result<Entries, String> {
    let text = match fs::read_to_string(&file.path) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let scoped = |servers: Map<String, Value>, scope| {
        servers
            .into_iter()
            .map(move |(name, entry)| (name, scope, entry))
    };
    if file.format == Format::CodexToml {
        return Ok(scoped(codex::servers(&text)?, file.scope).collect());
    }
    let document = parse(&text)?;
    let servers = |at: &[&str]| servers_at(&document, at);
    Ok(match file.format {
        Format::McpServers => scoped(servers(&["mcpServers"])?, file.scope).collect(),
        Format::Servers => scoped(servers(&["servers"])?, file.scope).collect(),
        Format::McpDotServers => scoped(servers(&["mcp", "servers"])?, file.scope).collect(),
        Format::McpServersAndProjects => {
            let project = project.map(|path| path.to_string_lossy().into_owned());
            let of_project = match &project {
                Some(project) => servers(&["projects", project, "mcpServers"])?,
                None => Map::new(),
            };
            scoped(of_project, Scope::Project)
                .chain(scoped(servers(&["mcpServers"])?, file.scope))
                .collect()
        }
        Format::CodexToml => Vec::new(),
    })
}

/// A parent that is not a folder also means that the file does not exist.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Parses JSON with comments and trailing commas, which several clients allow.
fn parse(text: &str) -> Result<Value, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        ..ParseOptions::default()
    };
    let text = text.trim_start_matches('\u{feff}');
    // An empty file is a file without servers.
    let value: Option<Value> = jsonc_parser::parse_to_serde_value(text, &options)
        .map_err(|error| format!("not valid JSON: {error}"))?;
    Ok(value.unwrap_or(Value::Null))
}

fn servers_at(document: &Value, at: &[&str]) -> Result<Map<String, Value>, String> {
    let mut value = document;
    for key in at {
        match value.get(key) {
            Some(inner) => value = inner,
            None => return Ok(Map::new()),
        }
    }
    match value {
        Value::Object(servers) => Ok(servers.clone()),
        Value::Null => Ok(Map::new()),
        _ => Err(format!("`{}` is not an object", at.join("."))),
    }
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
