//! What a model reads about the server: three tools, and one for plans if the operator wants it, in a few
//! hundred tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use pml_gateway::Gateway;
use pml_protocol::Limits;
use pml_scrub::Scrubbed;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::example_script::example_script;
use crate::session_replies::SessionReplies;

pub const EXECUTE: &str = "execute_code";
pub const SEARCH: &str = "search_tools";
pub const CALL: &str = "call_tool";
pub const WORKFLOW: &str = "execute_workflow";

/// Characters for the list of servers: the description is read with every request.
const ROSTER_CHARS: usize = 420;

pub const INSTRUCTIONS: &str = "One door to many MCP servers. Find tools with search_tools, combine them in one script with execute_code, or make a single call with call_tool. A name such as [EMAIL_1_k3f9] stands for private data: copy it exactly into a script or a call, and tools of the server it came from get the real value.";

/// Servers that are not trusted: how many are named, and the length of a name.
const MAX_UNTRUSTED: usize = 8;
const MAX_NAME: usize = 32;

/// [`INSTRUCTIONS`], and why there are no tools, or which servers are missing because their file is not
/// trusted.
pub fn instructions(gateway: &Gateway) -> String {
    if gateway.servers().next().is_none() {
        return format!(
            "{INSTRUCTIONS} There are no tools: no MCP server is configured. The user can run `pml init` or `pml add`, or add `--config FILE` to the command that starts this server."
        );
    }
    // The names come from the file that is not trusted.
    let plain = |name: &str| -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let letters = name.chars().take(MAX_NAME).filter(|c| is_plain(*c));
        letters.collect()
    };
    let names = gateway.untrusted_servers().take(MAX_UNTRUSTED);
    let untrusted: Vec<String> = names.map(plain).collect();
    if untrusted.is_empty() {
        return INSTRUCTIONS.to_owned();
    }
    format!(
        "{INSTRUCTIONS} These servers of the project's .mcp.json are not used, because the user has not trusted the file: {}. The user can look at it and run `pml trust` in the project's folder.",
        untrusted.join(", ")
    )
}

/// The servers and how many tools each has that the principal may see, as far as they are known.
pub fn roster(gateway: &Gateway) -> String {
    counted(gateway, &gateway.tools())
}

/// [`roster`] of the tools of all principals: another one means that some client should list again.
pub fn common_roster(gateway: &Gateway) -> String {
    counted(gateway, &gateway.indexed_tools())
}

fn counted(gateway: &Gateway, tools: &[Arc<pml_gateway::Tool>]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for tool in tools {
        *counts.entry(tool.id.server().to_owned()).or_default() += 1;
    }
    let (ready, waiting): (Vec<&str>, Vec<&str>) = gateway
        .servers()
        .partition(|server| counts.contains_key(*server));
    let ready = ready
        .iter()
        .map(|server| format!("{server} {}", counts[*server]));
    match (counts.is_empty(), waiting.is_empty()) {
        (true, true) => "none is configured".to_owned(),
        (true, false) => format!(
            "none is ready; starting or failed: {}",
            listed(waiting.into_iter().map(str::to_owned))
        ),
        (false, true) => listed(ready),
        (false, false) => format!(
            "{}; not ready: {}",
            listed(ready),
            listed(waiting.into_iter().map(str::to_owned))
        ),
    }
}

/// The items that fit into [`ROSTER_CHARS`], and the number of the others.
fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    let mut text = String::new();
    for (index, item) in items.iter().enumerate() {
        if text.len() + item.len() > ROSTER_CHARS {
            return format!(
                "{text} and {} more (search_tools finds them)",
                items.len() - index
            );
        }
        if index > 0 {
            text += ", ";
        }
        text += item;
    }
    text
}

/// The description of `execute_code`.
pub async fn execute(
    replies: &SessionReplies,
    gateway: &Gateway,
    limits: &Limits,
) -> Scrubbed<String> {
    let known = gateway.tools();
    let text = format!(
        "Run TypeScript with the tools of MCP servers (tools each): {roster}.
{example}
Find tools with search_tools first. tools.server.tool(args) gives the value or throws; \
callTool(\"server:tool\", args) gives {{ success, result?, error? }}. A value is structured \
content, else text (parsed if JSON), else content blocks.
Filter before you return: at most {limit} characters are shown. store(key, value) and load(key) \
keep state. For one whole answer use call_tool.",
        roster = counted(gateway, &known),
        example = example_script(&known),
        limit = limits.output_chars,
    );
    replies.text(&text).await
}

/// The three tools.
pub async fn tools(replies: &SessionReplies, gateway: &Gateway, limits: &Limits) -> Vec<Tool> {
    let execute = execute(replies, gateway, limits).await.into_inner();
    vec![
        Tool::new(EXECUTE, execute, execute_input())
            .with_title("Run code")
            .with_annotations(
                ToolAnnotations::new()
                    .read_only(false)
                    .destructive(true)
                    .open_world(true),
            ),
        Tool::new(SEARCH, "Find tools by what they do", search_input())
            .with_title("Find tools")
            .with_annotations(
                ToolAnnotations::new()
                    .read_only(true)
                    .destructive(false)
                    .open_world(false),
            ),
        Tool::new(CALL, "Call one tool, get its whole answer", call_input())
            .with_title("Call tool")
            .with_annotations(
                ToolAnnotations::new()
                    .read_only(false)
                    .destructive(true)
                    .open_world(true),
            ),
    ]
}

/// The tool for plans, where the operator wants it.
pub fn workflow() -> Tool {
    let text = "Run a plan: a graph of tool calls and code, in parallel as far as references allow.
{\"tasks\":[{\"id\":\"list\",\"tool\":\"fs:list\",\"args\":{\"dir\":\"$INPUT.dir\"}},
{\"id\":\"read\",\"tool\":\"fs:read\",\"for_each\":\"$OUTPUT[list]\",\"args\":{\"path\":\"$ITEM\"},\"optional\":true},
{\"id\":\"n\",\"code\":\"return $OUTPUT[read].length\"}]}
More keys: depends_on, when, retry, timeout, fallback. Gives output, and the state of each task.";
    Tool::new(WORKFLOW, text, workflow_input())
        .with_title("Run a plan")
        .with_annotations(
            ToolAnnotations::new()
                .read_only(false)
                .destructive(true)
                .open_world(true),
        )
}

fn workflow_input() -> Arc<JsonObject> {
    schema(json!({
        "type": "object",
        "properties": {
            "plan": { "type": "object" },
            "input": { "type": "object" },
            "timeout_ms": { "type": "integer" },
            "max_output_chars": { "type": "integer" },
        },
        "required": ["plan"],
    }))
}

fn execute_input() -> Arc<JsonObject> {
    schema(json!({
        "type": "object",
        "properties": {
            "code": { "type": "string" },
            "timeout_ms": { "type": "integer" },
            "cpu_ms": { "type": "integer" },
            "memory_mb": { "type": "integer" },
            "max_output_chars": { "type": "integer" },
            "hold": { "type": "boolean", "description": "keep the result unread behind a handle" },
            "run": { "type": "string", "description": "instead of code: result of a run that waited" },
        },
    }))
}

fn search_input() -> Arc<JsonObject> {
    schema(json!({
        "type": "object",
        "properties": {
            "query": { "type": "string" },
            "limit": { "type": "integer" },
            "server": { "type": "string" },
            "detail": { "type": "string", "enum": ["names", "signatures", "full"] },
        },
        "required": ["query"],
    }))
}

fn call_input() -> Arc<JsonObject> {
    schema(json!({
        "type": "object",
        "properties": {
            "tool": { "type": "string", "description": "server:tool" },
            "args": { "type": "object" },
        },
        "required": ["tool"],
    }))
}

fn schema(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}
