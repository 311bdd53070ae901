//! Filters on the server and the annotations of tools.

use std::collections::HashSet;
use std::sync::Arc;

use crate::document::ToolDocument;

/// Restricts a search to some tools. The default matches every tool.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Globs of server names, where `*` stands for any characters; one of them must match.
    pub servers: Vec<String>,
    /// Only tools that their server annotates as read-only.
    pub read_only: bool,
    /// Only tools that are not destructive. As in MCP, a tool that is not read-only counts as
    /// destructive unless its server annotates it otherwise.
    pub not_destructive: bool,
    /// The ids of the only tools that the searcher may find; `None` is every tool.
    pub visible: Option<Arc<HashSet<String>>>,
}

impl Filter {
    /// Whether a tool passes the filter.
    pub fn matches(&self, tool: &ToolDocument) -> bool {
        let read_only = tool.read_only == Some(true);
        let harmless = read_only || tool.destructive == Some(false);
        (self.servers.is_empty()
            || self
                .servers
                .iter()
                .any(|glob| glob_matches(glob, &tool.server)))
            && (!self.read_only || read_only)
            && (!self.not_destructive || harmless)
            && self
                .visible
                .as_ref()
                .is_none_or(|visible| visible.contains(&tool.id))
    }
}

/// Whether `name` matches `glob`.
fn glob_matches(glob: &str, name: &str) -> bool {
    let mut parts = glob.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        // No star at all.
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (glob, name, expected) in [
            ("fs", "fs", true),
            ("fs", "fs2", false),
            ("f*", "fs", true),
            ("*", "", true),
            ("*s", "fs", true),
            ("a*b*c", "a-bb-c", true),
            ("a*a", "a", false),
            ("*b*", "abc", true),
            ("", "fs", false),
        ] {
            assert_eq!(glob_matches(glob, name), expected, "{glob} {name}");
        }
    }

    #[test]
    fn a_missing_annotation_is_not_assumed() {
        let tool = |read_only, destructive| ToolDocument {
            read_only,
            destructive,
            ..ToolDocument::default()
        };
        let read_only = Filter {
            read_only: true,
            ..Filter::default()
        };
        assert!(read_only.matches(&tool(Some(true), None)));
        assert!(!read_only.matches(&tool(None, None)));
        let harmless = Filter {
            not_destructive: true,
            ..Filter::default()
        };
        assert!(harmless.matches(&tool(Some(true), None)));
        assert!(harmless.matches(&tool(None, Some(false))));
        assert!(!harmless.matches(&tool(None, None)));
        assert!(Filter::default().matches(&tool(None, Some(true))));
    }
}
