//! The tools of one listing, and their changes since another.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Pins, RefusedTool, Tool};
use crate::ToolId;
use crate::config::ToolFilter;
use crate::policy::globs::ToolGlob;

/// Bytes of the name of a refused tool that are kept.
const MAX_REFUSED_NAME: usize = 1024;

/// The tools of one server by name, after the server's own `tools.allow` and `tools.deny`.
#[derive(Debug, Default)]
pub(crate) struct ToolSet {
    by_name: BTreeMap<String, Arc<Tool>>,
    /// Tools that exceed a limit, by name.
    refused: BTreeMap<String, RefusedTool>,
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
    /// Reads a listing. With a lock file, what is not as it is pinned is described by what is pinned.
    pub fn read(server: &str, listed: &[Value], filter: &ToolFilter, pins: Option<&Pins>) -> Self {
        let globs = |patterns: &[String]| -> Vec<ToolGlob> {
            patterns
                .iter()
                .map(|pattern| ToolGlob::within(server, pattern))
                .collect()
        };
        let (allow, deny) = (filter.allow.as_deref().map(globs), globs(&filter.deny));
        let mut tools = Self::default();
        for described in listed {
            let name = described["name"].as_str().unwrap_or_default();
            let id = ToolId::new(server, name);
            let any = |globs: &[ToolGlob]| globs.iter().any(|glob| glob.matches(id.as_str()));
            if !allow.as_deref().is_none_or(any) || any(&deny) {
                continue;
            }
            match Tool::read(server, described) {
                Some(Ok(tool)) => {
                    let tool = match pins {
                        Some(pins) => pins.apply(tool),
                        None => tool,
                    };
                    tools.by_name.insert(name.to_owned(), Arc::new(tool));
                }
                Some(Err(refused)) => {
                    let end = name.floor_char_boundary(MAX_REFUSED_NAME);
                    tools.refused.insert(name[..end].to_owned(), refused);
                }
                None => {}
            }
        }
        tools
    }

    /// Why the server's tool of this name cannot be used.
    pub fn refusal(&self, name: &str) -> Option<&RefusedTool> {
        self.refused.get(name)
    }

    /// The tools that cannot be used.
    pub fn refused(&self) -> impl ExactSizeIterator<Item = &RefusedTool> {
        self.refused.values()
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
                Some(old)
                    if old.fingerprint != tool.fingerprint || old.quarantine != tool.quarantine =>
                {
                    ToolChangeKind::Changed
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(listed: Value, filter: ToolFilter) -> ToolSet {
        ToolSet::read("s", listed.as_array().unwrap(), &filter, None)
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
