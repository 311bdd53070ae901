//! `search_tools`: finds tools and shows them as TypeScript signatures.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pml_gateway::{Tool, printable};
use pml_protocol::Flow;
use pml_search::FoundTool;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ToolCall;
use super::arguments::{self, Whole};
use crate::tool_descriptions;
use crate::tool_reply::ToolReply;

const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 50;
const MAX_QUERY_CHARS: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    limit: Option<Whole>,
    server: Option<String>,
    detail: Option<Detail>,
}

/// How much of each tool is shown.
#[derive(Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Detail {
    Names,
    #[default]
    Signatures,
    /// With the JSON Schema of its arguments.
    Full,
}

/// Searches for tools.
pub async fn search(call: ToolCall) -> ToolReply {
    let ToolCall { state, session, .. } = call;
    let arguments: Arguments = match arguments::parse(call.arguments) {
        Ok(arguments) => arguments,
        Err(mistake) => return ToolReply::failure(session.replies().text(&mistake).await),
    };
    let server = arguments.server.as_deref().map(str::trim);
    let server = server.filter(|name| !name.is_empty());
    let is_unknown = |name: &&str| {
        // A pattern that matches no server is not an error.
        !name.contains('*') && !state.gateway().servers().any(|known| known == *name)
    };
    if let Some(unknown) = server.filter(is_unknown) {
        let servers = tool_descriptions::roster(session.gateway());
        let mistake = format!(
            "there is no server \"{}\"; servers (tools each): {servers}",
            printable(unknown)
        );
        return ToolReply::failure(session.replies().text(&mistake).await);
    }
    let query: String = arguments.query.chars().take(MAX_QUERY_CHARS).collect();
    let limit = arguments.limit.map_or(DEFAULT_LIMIT, |Whole(limit)| {
        usize::try_from(limit)
            .unwrap_or(MAX_LIMIT)
            .clamp(1, MAX_LIMIT)
    });
    session.note_query(&query);
    let mut found = session.finder().search(&query, server).await;
    found.truncate(limit);
    let text = match found.is_empty() {
        true => format!(
            "No tool fits; try other words. Servers (tools each): {}",
            tool_descriptions::roster(session.gateway())
        ),
        false => {
            // The client knows the results of its own calls; of those of others it sees less.
            let observed = |tool: &str| {
                let own = session.observed_shapes().schema(tool);
                own.or_else(|| state.observer().result_schema(tool))
            };
            render(&found, arguments.detail.unwrap_or_default(), &observed)
        }
    };
    let tools = session.gateway().tools();
    let visible = |id: &str| tools.iter().any(|tool| tool.id.as_str() == id);
    let plan = state
        .observer()
        .plan_for(&session.new_run(), &query, &visible);
    let text = match plan {
        Some(plan) => format!("{text}\n\n{plan}"),
        None => text,
    };
    let rules = session.gateway().label_rules();
    for server in session.gateway().servers() {
        let label = rules.definitions(server);
        session.read(&Flow::of(&format!("{server}:definitions"), &label));
    }
    ToolReply::text(session.replies().text(&text).await)
}

fn render(found: &[FoundTool], detail: Detail, observed: &dyn Fn(&str) -> Option<Value>) -> String {
    let tools = found.iter().map(|found| match detail {
        Detail::Names => found.tool.id.to_string(),
        Detail::Signatures => signature(&found.tool, observed),
        Detail::Full => json!({
            "id": found.tool.id,
            "title": found.tool.title,
            "description": found.tool.description,
            "inputSchema": found.tool.input_schema,
            "outputSchema": found.tool.output_schema,
            "annotations": found.tool.annotations,
        })
        .to_string(),
    });
    tools.collect::<Vec<_>>().join("\n")
}

fn signature(tool: &Tool, observed: &dyn Fn(&str) -> Option<Value>) -> String {
    let observed = match tool.output_schema {
        Some(_) => None,
        None => observed(tool.id.as_str()),
    };
    let schemas = pml_typegen::ToolSchemas {
        server: tool.id.server(),
        name: tool.id.tool(),
        description: &tool.description,
        input: &tool.input_schema,
        output: tool.output_schema.as_ref(),
        observed: observed.as_ref(),
    };
    // The generator shares no state with anything else; the other tools are shown all the same.
    let generate = || pml_typegen::signature(&schemas);
    catch_unwind(AssertUnwindSafe(generate)).unwrap_or_else(|_| tool.id.to_string())
}
