//! Tokens of all schemas of real servers, against those of the tools that `pml serve` lists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};
use tokio::process::Command;

use crate::client::Client;
use crate::tokens::{TOKENIZER, Tokens};
use crate::tool_server;

/// Time limit for the start of all servers.
const START_TIMEOUT: Duration = Duration::from_secs(60);

fn read(file: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    text.lines()
        .map(|line| Ok(serde_json::from_str(line)?))
        .collect()
}

/// The tools of one server, as its `tools/list` returns them.
pub fn tools_of(file: &Path, server: &str) -> Result<Vec<Value>> {
    let of_server = |tool: &Value| tool["server"] == server;
    Ok(read(file)?
        .into_iter()
        .filter(of_server)
        .map(listed)
        .collect())
}

fn listed(tool: Value) -> Value {
    let Value::Object(mut fields) = tool else {
        return tool;
    };
    fields.retain(|key, value| key != "id" && key != "server" && !value.is_null());
    Value::Object(fields)
}

pub async fn measure(pml: &Path, file: &Path) -> Result<()> {
    let tokens = Tokens::new()?;
    let all = read(file)?;
    let servers: BTreeSet<String> = all
        .iter()
        .filter_map(|tool| tool["server"].as_str().map(str::to_owned))
        .collect();
    let count = all.len();
    let direct: Vec<String> = all
        .into_iter()
        .map(|tool| listed(tool).to_string())
        .collect();
    let direct = tokens.count_all(&direct)?;

    let folder = tempfile::tempdir()?;
    let program = std::env::current_exe()?;
    let entries: BTreeMap<&String, Value> = servers
        .iter()
        .map(|server| {
            let args = json!([
                tool_server::ARGUMENT,
                "replay",
                std::path::absolute(file)?,
                server
            ]);
            Ok((server, json!({ "command": program, "args": args })))
        })
        .collect::<Result<_>>()?;
    let config = folder.path().join("servers.json");
    std::fs::write(&config, json!({ "mcpServers": entries }).to_string())?;
    let client = Client::start(Command::new(pml).arg("serve").arg("--config").arg(&config)).await?;
    let shown = listed_by_pml(&client, servers.len()).await?;
    client.kill().await;
    let ours = tokens.count(&json!(shown).to_string())?;

    println!("\n## What a model reads before it does anything\n");
    println!(
        "{} servers with {count} tools; tokens of {TOKENIZER}.\n",
        servers.len()
    );
    println!("| shown | tokens |");
    println!("|---|---|");
    println!("| every schema, directly | {direct} |");
    println!("| the three tools of `pml serve` | {ours} |");
    println!("| ratio | {:.0} |", direct as f64 / ours as f64);
    Ok(())
}

/// The tools that pml lists once every server is up.
async fn listed_by_pml(client: &Client, servers: usize) -> Result<Vec<Value>> {
    let began = Instant::now();
    loop {
        let listed: Map<String, Value> = match client.request("tools/list", json!({})).await? {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        let tools = listed["tools"].as_array().cloned().unwrap_or_default();
        let description = tools[0]["description"].as_str().unwrap_or_default();
        let ready = description.lines().next().is_some_and(|line| {
            !line.contains(" ready") && line.matches(", ").count() + 1 >= servers.min(3)
        });
        if ready {
            return Ok(tools);
        }
        ensure!(
            began.elapsed() < START_TIMEOUT,
            "the servers did not start: {description}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
