//! The tools of one server at one time, and how they differ from before.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::Tool;
use crate::ToolId;
use crate::config::ToolFilter;
use crate::policy::globs::ToolGlob;

/// The tools of one server by name, after the server's own `tools.allow` and `tools.deny`.
#[derive(Debug, Default)]
pub(crate) struct ToolSet {
    by_name: BTreeMap<String, Arc<Tool>>,
}

/// What happened to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChange {
    Added,
    Removed,
    /// Its description, schema or annotations are not what they were: the operator should look,
    /// because a changed description can be an attack on the model that reads it.
    Changed,
}

/// News about one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolNews {
    pub tool: ToolId,
    pub change: ToolChange,
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

    /// What is news in `self` to one who knows `before`.
    pub fn news(&self, before: &Self) -> Vec<ToolNews> {
        let mut news = Vec::new();
        for (name, tool) in &self.by_name {
            let change = match before.by_name.get(name) {
                None => ToolChange::Added,
                Some(old) if old.fingerprint != tool.fingerprint => ToolChange::Changed,
                Some(_) => continue,
            };
            news.push(ToolNews {
                tool: tool.id.clone(),
                change,
            });
        }
        for (name, tool) in &before.by_name {
            if !self.by_name.contains_key(name) {
                news.push(ToolNews {
                    tool: tool.id.clone(),
                    change: ToolChange::Removed,
                });
            }
        }
        news
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
    fn added_removed_and_changed_tools_are_news() {
        let before = set(
            json!([{ "name": "a" }, { "name": "b", "description": "old" }]),
            ToolFilter::default(),
        );
        let after = set(
            json!([{ "name": "b", "description": "new" }, { "name": "c" }]),
            ToolFilter::default(),
        );
        let news: Vec<_> = after
            .news(&before)
            .into_iter()
            .map(|n| (n.tool.tool().to_owned(), n.change))
            .collect();
        assert_eq!(
            news,
            [
                ("b".to_owned(), ToolChange::Changed),
                ("c".to_owned(), ToolChange::Added),
                ("a".to_owned(), ToolChange::Removed)
            ]
        );
        assert!(after.news(&after).is_empty());
    }
}
