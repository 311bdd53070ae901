//! The tools of a server beside what the lock file pins of them.

use std::sync::Arc;

use pml_policy::lock::{LockFile, Quarantine, ServerIdentity};
use serde_json::json;

use super::Tool;

/// What is pinned of one server, and what it is now.
#[derive(Debug)]
pub(crate) struct Pins {
    pub lock: Arc<LockFile>,
    pub server: String,
    pub identity: ServerIdentity,
    pub instructions: Option<String>,
}

impl Pins {
    /// Why nothing of the server is used.
    pub fn of_server(&self) -> Option<Quarantine> {
        let instructions = self.instructions.as_deref();
        self.lock
            .server_quarantine(&self.server, &self.identity, instructions)
    }

    /// The tool as scripts and models see it. One that is not as it is pinned is found and not called, and
    /// nothing that its server says about it is shown: a model would read it.
    pub fn apply(&self, mut tool: Tool) -> Tool {
        let (name, instructions) = (tool.id.tool(), self.instructions.as_deref());
        let definition = tool.definition();
        let (server, identity) = (&self.server, &self.identity);
        let quarantine = self
            .lock
            .quarantine(server, identity, instructions, name, &definition);
        let Some(quarantine) = quarantine else {
            return tool;
        };
        let pin = self
            .lock
            .tool(server, name)
            .filter(|_| quarantine.is_pinned());
        tool.description = match pin {
            Some(pin) => format!(
                "[not callable: it {quarantine}] {}",
                pin.definition.description
            ),
            None => format!("[not callable: it {quarantine}]"),
        };
        tool.title = None;
        // Somebody has looked at these arguments, and `pml check` can compare with them.
        tool.input_schema = match pin {
            Some(pin) => pin.definition.input_schema.clone(),
            None => json!({ "type": "object" }),
        };
        tool.output_schema = None;
        tool.annotations = None;
        tool.quarantine = Some(quarantine);
        tool
    }
}
