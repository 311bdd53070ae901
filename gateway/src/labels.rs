//! The labels of tools: what they return, and what they accept.

use pml_policy::labels::{Label, LabelRules, LabelsConfig, Sink};

use crate::config::{Config, ConfigError};
use crate::gateway::Gateway;
use crate::registry::Tool;

/// The rules of `pml.labels`.
///
/// # Errors
/// A value is wrong, or a rule names a server that does not exist: it would never apply.
pub(crate) fn label_rules(config: &Config) -> Result<LabelRules, ConfigError> {
    let labels: LabelsConfig = config.section("labels")?;
    for (key, glob) in labels.globs() {
        let server = glob.server();
        if server.contains(['*', '?']) || config.servers.contains_key(server) {
            continue;
        }
        let known = config.servers.keys().map(String::as_str);
        let message = match pml_nearest::typo_of(server, known) {
            Some(nearest) => {
                format!("there is no server `{server}`: did you mean `{nearest}`?")
            }
            None => format!(
                "there is no server `{server}`: name a server of this file, or use `*` in a pattern"
            ),
        };
        return Err(config.section_error(&["labels", key, &glob.to_string()], message));
    }
    Ok(LabelRules::new(labels))
}

impl Gateway {
    /// The rules of `pml.labels`.
    pub fn label_rules(&self) -> &LabelRules {
        &self.inner().labels
    }

    /// What a result or an error of the tool is.
    pub fn source_label(&self, tool: &Tool) -> Label {
        let facts = self.inner().facts(tool);
        self.label_rules().source(&facts, tool.annotations.as_ref())
    }

    /// What the tool accepts.
    pub fn sink(&self, tool: &Tool) -> Sink {
        let facts = self.inner().facts(tool);
        self.label_rules().sink(&facts, tool.annotations.as_ref())
    }
}
