//! Servers whose tools a test writes down, and what they received.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gateway::Place;
use crate::support::repository;

/// Several servers, a configuration with them, and their journals.
pub struct ScriptedServers {
    folder: TempDir,
    pub place: Place,
}

impl ScriptedServers {
    /// `servers` are their tools, by server and name; `pml` is that section of the configuration.
    pub fn new(servers: &Value, pml: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = repository().join("tests/serve/scripted_server.py");
        let mut entries = serde_json::Map::new();
        for (name, tools) in servers.as_object().unwrap() {
            let file = folder.path().join(format!("{name}.json"));
            fs::write(&file, tools.to_string()).unwrap();
            let journal = folder.path().join(format!("{name}.journal"));
            let args = json!(["-u", script, file, journal]);
            entries.insert(name.clone(), json!({ "command": "python3", "args": args }));
        }
        let place = Place::with(&json!({ "mcpServers": entries, "pml": pml }));
        Self { folder, place }
    }

    /// From now on the tool of a server answers with this text.
    pub fn answer(&self, server: &str, tool: &str, text: &str) {
        let file = self.folder.path().join(format!("{server}.json"));
        let mut tools: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        tools[tool]["answer"] = json!(text);
        fs::write(file, tools.to_string()).unwrap();
    }

    /// The arguments of the calls that a server received, a line each.
    pub fn received(&self, server: &str) -> String {
        fs::read_to_string(self.journal(server)).unwrap_or_default()
    }

    fn journal(&self, server: &str) -> PathBuf {
        self.folder.path().join(format!("{server}.journal"))
    }
}
