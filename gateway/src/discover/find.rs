//! Looking in every place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use serde_json::{Map, Value};

use super::client::{Client, Form, Place, Scope};
use super::codex;
use super::entry::adapt;
use super::home::Home;
use super::variables::rewrite;

/// Everything that was found, and what could not be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// In the order of clients and places, by name within a file.
    pub servers: Vec<FoundServer>,
    pub problems: Vec<Problem>,
}

/// One server of one client, in the words of `.mcp.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundServer {
    pub name: String,
    pub source: Source,
    pub entry: Map<String, Value>,
    /// What a person has to do before it works here.
    pub notes: Vec<String>,
}

/// Where a server was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub client: Client,
    pub scope: Scope,
    pub path: PathBuf,
}

/// A file or an entry that was passed over. The others are found all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub source: Source,
    /// One sentence.
    pub message: String,
}

/// Looks for the servers of every known client, for this user and for `project`.
pub fn find(home: &Home, project: Option<&Path>) -> Found {
    let mut found = Found::default();
    for client in Client::ALL {
        for place in client.places(home, project) {
            let source = Source {
                client,
                scope: place.scope,
                path: place.path.clone(),
            };
            match read(&place, project) {
                Ok(entries) => {
                    for (name, scope, entry) in entries {
                        let source = Source {
                            scope,
                            ..source.clone()
                        };
                        found.add(name, entry, source, home, project);
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
        home: &Home,
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
        let mut notes = rewrite(&mut entry, home, project);
        notes.extend(env_file);
        self.servers.push(FoundServer {
            name,
            source,
            entry,
            notes,
        });
    }
}

/// Whether the entry starts `pml serve`: a gateway that is its own server would call itself
/// without end.
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

fn read(place: &Place, project: Option<&Path>) -> Result<Entries, String> {
    let text = match fs::read_to_string(&place.path) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(format!("it cannot be read: {error}")),
    };
    let scoped = |servers: Map<String, Value>, scope| {
        servers
            .into_iter()
            .map(move |(name, entry)| (name, scope, entry))
    };
    if place.form == Form::CodexToml {
        return Ok(scoped(codex::servers(&text)?, place.scope).collect());
    }
    let document = parse(&text)?;
    let servers = |at: &[&str]| servers_at(&document, at);
    Ok(match place.form {
        Form::McpServers => scoped(servers(&["mcpServers"])?, place.scope).collect(),
        Form::Servers => scoped(servers(&["servers"])?, place.scope).collect(),
        Form::McpDotServers => scoped(servers(&["mcp", "servers"])?, place.scope).collect(),
        Form::McpServersAndProjects => {
            let project = project.map(|path| path.to_string_lossy().into_owned());
            let of_project = match &project {
                Some(project) => servers(&["projects", project, "mcpServers"])?,
                None => Map::new(),
            };
            scoped(of_project, Scope::Project)
                .chain(scoped(servers(&["mcpServers"])?, place.scope))
                .collect()
        }
        Form::CodexToml => Vec::new(),
    })
}

/// A folder in the way of the file also means that there is no such file.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// JSON with comments and trailing commas, which several clients write and read.
fn parse(text: &str) -> Result<Value, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        ..ParseOptions::default()
    };
    let text = text.trim_start_matches('\u{feff}');
    // An empty file is a file without servers.
    let value: Option<Value> = jsonc_parser::parse_to_serde_value(text, &options)
        .map_err(|error| format!("it is no JSON: {error}"))?;
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
        _ => Err(format!("`{}` is no object", at.join("."))),
    }
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
