//! What a model reads about us: three tools, a few hundred tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use pml_gateway::Gateway;
use pml_runtime::Limits;
use pml_scrub::Scrubbed;
use pml_session::Outlet;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

pub const EXECUTE: &str = "execute_code";
pub const SEARCH: &str = "search_tools";
pub const CALL: &str = "call_tool";

/// Characters for the list of servers: the description is read with every request.
const ROSTER_CHARS: usize = 420;

pub const INSTRUCTIONS: &str = "One door to many MCP servers. Find tools with search_tools, combine them in one script with execute_code, or make a single call with call_tool.";

/// The servers and how many tools each has, as far as they are known.
pub fn roster(gateway: &Gateway) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for tool in gateway.tools() {
        *counts.entry(tool.id.server().to_owned()).or_default() += 1;
    }
    let (ready, waiting): (Vec<&str>, Vec<&str>) = gateway
        .servers()
        .partition(|server| counts.contains_key(*server));
    let ready = ready
        .iter()
        .map(|server| format!("{server} ({})", counts[*server]));
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

/// As many as fit, and how many more there are.
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
pub fn execute(outlet: &Outlet, gateway: &Gateway, limits: &Limits) -> Scrubbed<String> {
    outlet.text(&format!(
        "Run one TypeScript script that calls the tools of connected MCP servers. Best for several \
calls, loops, filtering, joining: data in between stays in the sandbox.

Servers (tools): {roster}

```ts
const files = await tools.fs.list_files({{ path: \"logs\" }});
const texts = await Promise.all(files.map((path) => tools.fs.read_file({{ path }})));
return texts.filter((text) => text.includes(\"ERROR\")).length;
```

- Take ids from search_tools, or searchTools(\"words\") in the script; do not guess.
- tools.server.tool(args) gives the value and throws ToolError; callTool(\"server:tool\", args) never throws: {{ success, result?, error? }}.
- A value is the tool's structured content, else its text (parsed if JSON), else its content blocks.
- Filter before you return: you see only the result (return value or last expression) and console output, up to {limit} characters. More is kept: load(handle) in a later script. store(key, value) and load(key) keep state between scripts.
- Private data reads like [EMAIL_1]; passed to a tool, it becomes the real value again.
- No network, files or imports. Types are not checked.
- For one call whose whole answer you want, use call_tool.",
        roster = roster(gateway),
        limit = limits.output_chars,
    ))
}

/// The three tools.
pub fn tools(outlet: &Outlet, gateway: &Gateway, limits: &Limits) -> Vec<Tool> {
    let execute = execute(outlet, gateway, limits).into_inner();
    vec![
        Tool::new(EXECUTE, execute, execute_input(limits))
            .with_title("Run a script")
            .with_annotations(
                ToolAnnotations::new()
                    .read_only(false)
                    .destructive(true)
                    .idempotent(false)
                    .open_world(true),
            ),
        Tool::new(
            SEARCH,
            "Find tools of the connected servers by what they do. Answers TypeScript signatures, best first.",
            search_input(),
        )
        .with_title("Find tools")
        .with_annotations(
            ToolAnnotations::new()
                .read_only(true)
                .destructive(false)
                .idempotent(true)
                .open_world(false),
        ),
        Tool::new(
            CALL,
            "Call one tool of a connected server and get its whole answer.",
            call_input(),
        )
        .with_title("Call a tool")
        .with_annotations(
            ToolAnnotations::new()
                .read_only(false)
                .destructive(true)
                .idempotent(false)
                .open_world(true),
        ),
    ]
}

fn execute_input(limits: &Limits) -> Arc<JsonObject> {
    schema(json!({
        "type": "object",
        "properties": {
            "code": { "type": "string", "description": "TypeScript or JavaScript" },
            "timeout_ms": { "type": "integer", "minimum": 1, "description": format!("at most {}", limits.wall_ms) },
            "cpu_ms": { "type": "integer", "minimum": 1, "description": format!("at most {}", limits.cpu_ms) },
            "memory_mb": { "type": "integer", "minimum": 8, "description": format!("at most {}", limits.heap_bytes >> 20) },
            "max_output_chars": { "type": "integer", "minimum": 1, "description": format!("at most {}", limits.output_chars) },
        },
        "required": ["code"],
    }))
}

fn search_input() -> Arc<JsonObject> {
    schema(json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "what the tool should do" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 50, "default": 5 },
            "server": { "type": "string", "description": "only tools of this server" },
            "detail": { "type": "string", "enum": ["name", "signature", "full"], "default": "signature" },
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
