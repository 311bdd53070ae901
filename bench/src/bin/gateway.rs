//! Overhead of the gateway per call, against a bare rmcp client in the same run.
//!
//! `cargo run --release -p pml-bench --bin gateway`

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use pml_bench::{Sample, describe_machine, millis};
use pml_gateway::{Config, Gateway, RunLimits, RunScope};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};

// Rounds are short, so that noise on the machine affects both clients alike.
const ROUNDS: usize = 400;
const CALLS_PER_ROUND: usize = 10;
const BURSTS: usize = 9;
const AT_ONCE: u32 = 200;
const SLEEP: Duration = Duration::from_millis(100);

fn main() -> Result<()> {
    // This program is also the server that both clients start.
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }
    // One thread: wake-ups across busy cores would hide the difference.
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(measure())
}

async fn measure() -> Result<()> {
    let program = std::env::current_exe()?;
    let bare = BareClient::start(&program).await?;
    let ours = GatewayClient::open(&program)?;
    println!("# Gateway\n");
    println!("{}; peer: a bare rmcp client\n", describe_machine());
    println!("| what | pml | rmcp | ratio | target |");
    println!("|---|---|---|---|---|");
    for (what, length) in [("a short answer", 5), ("an answer of 32 KiB", 32 * 1024)] {
        calls(what, &json!({ "text": "x".repeat(length) }), &bare, &ours).await?;
    }
    bursts(&bare, &ours).await?;
    ours.gateway.shutdown().await;
    Ok(())
}

/// Sequential calls; the two clients alternate.
async fn calls(
    what: &str,
    arguments: &Value,
    bare: &BareClient,
    ours: &GatewayClient,
) -> Result<()> {
    let (mut bare_times, mut our_times) = (Sample::default(), Sample::default());
    for _ in 0..ROUNDS {
        for _ in 0..CALLS_PER_ROUND {
            let began = Instant::now();
            bare.call("echo", arguments).await?;
            bare_times.push(began.elapsed());
        }
        for _ in 0..CALLS_PER_ROUND {
            let began = Instant::now();
            ours.call("bench:echo", arguments).await?;
            our_times.push(began.elapsed());
        }
    }
    let (bare, ours) = (bare_times.median(), our_times.median());
    println!(
        "| one call, {what} (median of {}) | {} | {} | {:.3} | at most 1.15 |",
        our_times.len(),
        micros(ours),
        micros(bare),
        ours.as_secs_f64() / bare.as_secs_f64(),
    );
    Ok(())
}

/// Concurrent calls to a tool that sleeps: the ideal time is that of one sleep.
async fn bursts(bare: &BareClient, ours: &GatewayClient) -> Result<()> {
    let no_arguments = json!({});
    let (mut bare_times, mut our_times) = (Sample::default(), Sample::default());
    for _ in 0..BURSTS {
        let began = Instant::now();
        try_join_all((0..AT_ONCE).map(|_| bare.call("sleep", &no_arguments))).await?;
        bare_times.push(began.elapsed());

        let began = Instant::now();
        try_join_all((0..AT_ONCE).map(|_| ours.call("bench:sleep", &no_arguments))).await?;
        our_times.push(began.elapsed());
    }
    println!(
        "| {AT_ONCE} calls at once to a tool that sleeps {} ms, against the ideal (median of {}) | {} | {} | {:.3} | at most 1.3 |",
        SLEEP.as_millis(),
        our_times.len(),
        millis(our_times.median()),
        millis(bare_times.median()),
        our_times.median().as_secs_f64() / SLEEP.as_secs_f64(),
    );
    Ok(())
}

fn micros(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}

/// The peer: rmcp's client without anything around it.
struct BareClient(RunningService<RoleClient, ()>);

impl BareClient {
    async fn start(program: &Path) -> Result<Self> {
        let mut child = tokio::process::Command::new(program)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().context("the server has no output")?;
        let stdin = child.stdin.take().context("the server has no input")?;
        // Closing the pipes ends the server when the client is dropped.
        tokio::spawn(async move { child.wait().await });
        Ok(Self(().serve((stdout, stdin)).await?))
    }

    async fn call(&self, tool: &'static str, arguments: &Value) -> Result<()> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        self.0.call_tool(request).await?;
        Ok(())
    }
}

/// The gateway with its run scope.
struct GatewayClient {
    gateway: Gateway,
    scope: RunScope,
}

impl GatewayClient {
    fn open(program: &Path) -> Result<Self> {
        let text = json!({
            "mcpServers": { "bench": { "command": program, "args": ["serve"] } },
            "pml": { "policy": { "budget": { "calls": 10_000_000 } } },
        });
        let config = Config::parse(Path::new("bench"), &text.to_string(), &|_| None)?;
        let gateway = Gateway::open(config)?;
        let scope = gateway.run(RunLimits {
            concurrent: Some(AT_ONCE),
            ..RunLimits::default()
        });
        Ok(Self { gateway, scope })
    }

    async fn call(&self, tool: &str, arguments: &Value) -> Result<()> {
        let call = self.gateway.call(&self.scope, tool, arguments.clone());
        call.await?;
        Ok(())
    }
}

/// The server of both clients: the least that MCP allows, so that the clients dominate the time.
fn serve() -> Result<()> {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
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
            Some("tools/list") => write(&answer(json!({ "tools": [
                { "name": "echo", "inputSchema": schema },
                { "name": "sleep", "inputSchema": schema },
            ] })))?,
            Some("tools/call") => {
                let params = &message["params"];
                let text = params["arguments"]["text"].as_str().unwrap_or("slept");
                let result = answer(json!({ "content": [{ "type": "text", "text": text }] }));
                if params["name"] == "sleep" {
                    std::thread::spawn(move || {
                        std::thread::sleep(SLEEP);
                        write(&result)
                    });
                } else {
                    write(&result)?;
                }
            }
            _ => write(&answer(json!({})))?,
        }
    }
    Ok(())
}

fn write(message: &Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}
