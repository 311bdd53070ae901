//! The tools of one listing, and their changes since another.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Tool;
use crate::ToolId;
use crate::config::ToolFilter;
use crate::policy::globs::ToolGlob;
use crate::printable::{is_tool_name, printable};

/// Names in the warnings about one listing.
const MAX_WARNINGS: usize = 5;

/// The tools of one server by name, after the server's own `tools.allow` and `tools.deny`.
#[derive(Debug, Default)]
pub(crate) struct ToolSet {
    by_name: BTreeMap<String, Arc<Tool>>,
}

/// What happened to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolChangeKind {
    Added,
    Removed,
    /// Its description, schema or annotations changed. The operator should look at it: a changed
    /// description can be an attack on the model that reads it.
    Changed,
}

/// A change of one tool between two listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolChange {
    pub tool: ToolId,
    pub kind: ToolChangeKind,
}

impl ToolSet {
    pub fn read(server: &str, listed: &[Value], filter: &ToolFilter) -> Self {
        let globs = |patterns: &[String]| -> Vec<ToolGlob> {
            patterns
                .iter()
                .map(|pattern| ToolGlob::within(server, pattern))
                .collect()
        };
        let (allow, deny) = (filter.allow.as_deref().map(globs), globs(&filter.deny));
        warn_of_names(server, listed);
        let by_name = listed
            .iter()
            .filter_map(|described| Tool::read(server, described))
            .filter(|tool| {
                let any =
                    |globs: &[ToolGlob]| globs.iter().any(|glob| glob.matches(tool.id.as_str()));
                allow.as_deref().is_none_or(any) && !any(&deny)
            })
            .map(|tool| (tool.id.tool().to_owned(), Arc::new(tool)))
            .collect();
        Self { by_name }
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.by_name.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.by_name.values()
    }

    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// The changes from `before` to this set.
    pub fn changes_since(&self, before: &Self) -> Vec<ToolChange> {
        let mut changes = Vec::new();
        for (name, tool) in &self.by_name {
            let kind = match before.by_name.get(name) {
                None => ToolChangeKind::Added,
                Some(old) if old.fingerprint != tool.fingerprint => ToolChangeKind::Changed,
                Some(_) => continue,
            };
            changes.push(ToolChange {
                tool: tool.id.clone(),
                kind,
            });
        }
        for (name, tool) in &before.by_name {
            if !self.by_name.contains_key(name) {
                changes.push(ToolChange {
                    tool: tool.id.clone(),
                    kind: ToolChangeKind::Removed,
                });
            }
        }
        changes
    }
}

/// Warns of tools that are left out because of their names.
fn warn_of_names(server: &str, listed: &[Value]) {
    let names = listed.iter().filter_map(|tool| tool["name"].as_str());
    let mut refused = names.filter(|name| !is_tool_name(name));
    for name in refused.by_ref().take(MAX_WARNINGS) {
        let tool = printable(name);
        tracing::warn!(
            %server, %tool,
            "a tool was left out: its name has other characters than letters, digits, _ - . / : or more than 128"
        );
    }
    let more = refused.count();
    if more > 0 {
        tracing::warn!(%server, more, "more tools were left out because of their names");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(listed: Value, filter: ToolFilter) -> ToolSet {
        ToolSet::read("s", listed.as_array().unwrap(), &filter)
    }

    #[test]
    fn a_servers_own_filter_hides_tools() {
        let filter = ToolFilter {
            allow: Some(vec!["read_*".to_owned()]),
            deny: vec!["*_secret".to_owned()],
        };
        let set = set(
            json!([{ "name": "read_a" }, { "name": "read_secret" }, { "name": "write" }]),
            filter,
        );
        let names: Vec<_> = set.iter().map(|tool| tool.id.tool()).collect();
        assert_eq!(names, ["read_a"]);
    }

    #[test]
    fn added_removed_and_changed_tools_are_found() {
        let before = set(
            json!([{ "name": "a" }, { "name": "b", "description": "old" }]),
            ToolFilter::default(),
        );
        let after = set(
            json!([{ "name": "b", "description": "new" }, { "name": "c" }]),
            ToolFilter::default(),
        );
        let changes: Vec<_> = after
            .changes_since(&before)
            .into_iter()
            .map(|change| (change.tool.tool().to_owned(), change.kind))
            .collect();
        assert_eq!(
            changes,
            [
                ("b".to_owned(), ToolChangeKind::Changed),
                ("c".to_owned(), ToolChangeKind::Added),
                ("a".to_owned(), ToolChangeKind::Removed)
            ]
        );
        assert!(after.changes_since(&after).is_empty());
    }
}
