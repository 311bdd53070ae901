//! Which tools a search is about.

use crate::document::Document;

/// Everything passes an empty filter.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Patterns of server names, with `*` for any characters; one of them must fit.
    pub servers: Vec<String>,
    /// Only tools whose server says that they change nothing.
    pub read_only: bool,
    /// No tool that its server calls destructive, nor one that may be: a tool that is not
    /// read-only is taken for destructive until its server says otherwise, as MCP has it.
    pub not_destructive: bool,
}

impl Filter {
    pub fn passes(&self, tool: &Document) -> bool {
        let read_only = tool.read_only == Some(true);
        let harmless = read_only || tool.destructive == Some(false);
        (self.servers.is_empty() || self.servers.iter().any(|glob| fits(glob, &tool.server)))
            && (!self.read_only || read_only)
            && (!self.not_destructive || harmless)
    }
}

/// Whether `name` is of the form of `glob`.
fn fits(glob: &str, name: &str) -> bool {
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
            assert_eq!(fits(glob, name), expected, "{glob} {name}");
        }
    }

    #[test]
    fn what_a_server_does_not_say_is_not_assumed() {
        let tool = |read_only, destructive| Document {
            read_only,
            destructive,
            ..Document::default()
        };
        let read_only = Filter {
            read_only: true,
            ..Filter::default()
        };
        assert!(read_only.passes(&tool(Some(true), None)));
        assert!(!read_only.passes(&tool(None, None)));
        let harmless = Filter {
            not_destructive: true,
            ..Filter::default()
        };
        assert!(harmless.passes(&tool(Some(true), None)));
        assert!(harmless.passes(&tool(None, Some(false))));
        assert!(!harmless.passes(&tool(None, None)));
        assert!(Filter::default().passes(&tool(None, Some(true))));
    }
}
