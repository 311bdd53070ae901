//! Ids that a script spells as an identifier: `s:echo_tool` for the tool `s:echo-tool`.

use pml_nearest::typo_of;

use crate::ToolId;
use crate::caller::Caller;
use crate::gateway::Inner;

impl Inner {
    /// The id of the only tool of the server whose name differs from the one in `id` in nothing but case,
    /// `-`, `.`, `_` and `/`. `None` if there is a tool with this id, if there are several, or none.
    pub(crate) async fn spelled(&self, caller: &Caller, id: &str) -> Option<String> {
        let parsed = id.parse::<ToolId>().ok()?;
        let server = self.servers.get(parsed.server())?;
        let has = |name: &str| {
            server
                .known_tools()
                .is_some_and(|tools| tools.get(name).is_some())
        };
        if has(parsed.tool()) || !self.policy().filter.allows(id) {
            return None;
        }
        let tools = server.current_tools().await.ok()?;
        if tools.get(parsed.tool()).is_some() || tools.refusal(parsed.tool()).is_some() {
            return None;
        }
        let wanted = folded(parsed.tool());
        let visible = self.known_tools(caller);
        let mut alike = visible
            .iter()
            .filter(|tool| tool.id.server() == parsed.server() && folded(tool.id.tool()) == wanted);
        match (alike.next(), alike.next()) {
            (Some(only), None) => Some(only.id.as_str().to_owned()),
            _ => None,
        }
    }

    /// The id of a tool that was written in another form, such as `demo.read_file` or
    /// `mcp__demo__read_file`, or with a mistyped server.
    pub(super) fn meant<'a>(&self, id: &str, ids: &[&'a str]) -> Option<&'a str> {
        let wanted = folded(id.strip_prefix("mcp__").unwrap_or(id));
        let is_meant = |known: &&&str| {
            let tool = known.split_once(':').map_or("", |(_, tool)| tool);
            folded(known) == wanted || folded(tool) == wanted
        };
        let mut same = ids.iter().filter(is_meant);
        if let (Some(only), None) = (same.next(), same.next()) {
            return Some(only);
        }
        let (server, tool) = id.split_once(':')?;
        let server = typo_of(server, self.servers.keys().map(String::as_str))?;
        let wanted = format!("{server}:{tool}");
        ids.iter().find(|known| **known == wanted).copied()
    }
}

/// A name without what identifiers cannot have, and without case.
fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_' | '.' | '/' | ':'))
        .flat_map(char::to_lowercase)
        .collect()
}
