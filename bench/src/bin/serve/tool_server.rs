//! The tool server behind the servers under test: this program in another role, the least that MCP
//! allows.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// The first argument that makes this program a tool server.
pub const ARGUMENT: &str = "tool-server";

/// Duration of the sleeping tool.
pub const SLEEP: Duration = Duration::from_millis(100);

/// Serves `files FOLDER LATENCY_MS`, `sleep`, or `replay FILE SERVER`.
pub fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["sleep"] => serve(&sleep_tools(), SLEEP, |_, _| "slept".to_owned()),
        ["files", folder, latency] => {
            let folder = Path::new(folder).to_owned();
            let latency = Duration::from_millis(latency.parse()?);
            serve(&file_tools(), latency, move |tool, arguments| match tool {
                "read_json" => {
                    let name = arguments["name"].as_str().unwrap_or_default();
                    std::fs::read_to_string(folder.join(name)).unwrap_or_default()
                }
                _ => "written".to_owned(),
            })
        }
        ["replay", file, server] => {
            let tools = super::schemas::tools_of(Path::new(file), server)?;
            serve(&tools, Duration::ZERO, |_, _| String::new())
        }
        _ => anyhow::bail!("unknown tool server {arguments:?}: expected sleep, files or replay"),
    }
}

fn sleep_tools() -> Vec<Value> {
    vec![json!({
        "name": "sleep", "description": "Sleeps a while",
        "inputSchema": { "type": "object", "properties": { "n": { "type": "number" } } },
        "annotations": { "readOnlyHint": true },
    })]
}

fn file_tools() -> Vec<Value> {
    vec![
        json!({
            "name": "read_json", "description": "Reads a JSON file",
            "inputSchema": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
        }),
        json!({
            "name": "write_note", "description": "Writes a note",
            "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
        }),
    ]
}

/// Serves `tools` over stdio. Every call takes `latency`; calls run concurrently.
fn serve(
    tools: &[Value],
    latency: Duration,
    call: impl Fn(&str, &Value) -> String + Clone + Send + 'static,
) -> Result<()> {
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id").cloned() else {
            continue;
        };
        let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
        match message["method"].as_str() {
            Some("initialize") => write(&answer(json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "bench", "version": "1" },
            })))?,
            Some("tools/list") => write(&answer(json!({ "tools": tools })))?,
            Some("tools/call") => {
                let (call, id) = (call.clone(), id.clone());
                let params = message["params"].clone();
                std::thread::spawn(move || {
                    std::thread::sleep(latency);
                    let tool = params["name"].as_str().unwrap_or_default();
                    let text = call(tool, &params["arguments"]);
                    let result = json!({ "content": [{ "type": "text", "text": text }] });
                    write(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
                });
            }
            _ => write(&answer(json!({})))?,
        }
    }
    Ok(())
}

fn write(message: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}").context("the client is gone")?;
    Ok(out.flush()?)
}
