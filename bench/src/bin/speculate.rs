//! Scripts with and without speculation, against an MCP server whose tools take 100 ms.
//!
//! `cargo run --release -p pml-bench --bin speculate`
//!
//! Eight reads in a row, a list and a read of each of 20 files, a script without calls, and the time that
//! the search for calls adds to the translation of 100 lines.

use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use pml_bench::describe_machine;
use pml_gateway::{Config, Gateway};
use pml_hosts::stack::{self, LiveRun};
use pml_hosts::{SpeculatedCalls, StaticHost};
use pml_protocol::{Limits, Outcome};
use pml_runtime::{Pool, PoolOptions, RunOptions, Script};
use serde_json::{Value, json};

/// How long a call takes.
const CALL: Duration = Duration::from_millis(100);
/// Files of the list.
const FILES: usize = 20;
/// The argument with which this program is the server.
const SERVER: &str = "--mcp-server";

const EIGHT: &str = "const out = [];
for (const path of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) out.push(await tools.s.read({ path }));
return out.length;";
const LIST: &str = "const list = await tools.s.list({});
const out = [];
for (const file of list.files) out.push(await tools.s.read({ path: `folder/${file.name}` }));
return out.length;";
const NOTHING: &str =
    "const items = Array.from({ length: 50 }, (_, n) => ({ n, name: `item ${n}` }));
if (items.length < 0) await tools.s.read({ path: 'never' });
return items.filter((item) => item.n % 2).map((item) => item.name);";

fn main() -> Result<()> {
    pml_runtime::worker::run_if_requested();
    if std::env::args().any(|arg| arg == SERVER) {
        return serve();
    }
    println!("{}\n", describe_machine());
    let event_loop = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    event_loop.block_on(measure())
}

async fn measure() -> Result<()> {
    let config = json!({
        "mcpServers": { "s": { "command": std::env::current_exe()?, "args": [SERVER] } },
        "pml": { "effects": { "s:*": "read" } },
    });
    let config = Config::parse("bench.json".as_ref(), &config.to_string(), &|_| None)?;
    let gateway = Gateway::open(config)?;
    gateway.warm().await;
    let pool = Pool::new(PoolOptions::new()?);
    // A tool is looked at once.
    run(&gateway, &pool, EIGHT, true).await?;

    println!("| script | without | with | times faster | started | not taken |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (name, source, rounds) in [
        ("8 reads of 100 ms in a row", EIGHT, 5),
        ("a list, then each of 20 files", LIST, 3),
        ("no calls", NOTHING, 301),
    ] {
        let (mut plain, mut speculating, mut started, mut dropped) = (vec![], vec![], 0, 0);
        // Interleaved, so that both see the same machine.
        for _ in 0..rounds {
            plain.push(run(&gateway, &pool, source, false).await?.0);
            let (time, outcome) = run(&gateway, &pool, source, true).await?;
            speculating.push(time);
            let stats = outcome.stats.speculation.unwrap_or_default();
            started += stats.started;
            dropped += stats.dropped;
        }
        let (plain, speculating) = (median(plain), median(speculating));
        println!(
            "| {name} | {:.2} ms | {:.2} ms | {:.2} | {started} | {dropped} |",
            millis(plain),
            millis(speculating),
            plain.as_secs_f64() / speculating.as_secs_f64(),
        );
    }
    gateway.shutdown().await;
    analysis()
}

/// Runs a script and returns its time.
async fn run(
    gateway: &Gateway,
    pool: &Pool,
    source: &str,
    speculates: bool,
) -> Result<(Duration, Outcome)> {
    let limits = Limits::default();
    let began = Instant::now();
    let speculated = speculates.then(Arc::<SpeculatedCalls>::default);
    let host = stack::live(LiveRun {
        gateway: gateway.clone(),
        search: Arc::new(StaticHost::empty()),
        storage: Arc::default(),
        placeholders: None,
        person: None,
        observers: Vec::new(),
        limits,
        tool_timeout: None,
        journal: None,
        approvals: None,
        telemetry: None,
        costs: Default::default(),
        suspensions: Default::default(),
        script_observer: None,
        speculated: speculated.clone(),
        audit: None,
        progress: Arc::new(|_| {}),
    });
    let options = RunOptions {
        speculation: stack::speculation(gateway, speculated, &host),
        ..RunOptions::default()
    };
    let script = Script {
        name: "speculate.ts".to_owned(),
        source: source.to_owned(),
        args: Vec::new(),
    };
    let outcome = pool
        .run_with(script, options, limits, host, &mut |_| {})
        .await;
    ensure!(outcome.ok, "{:?}", outcome.error);
    Ok((began.elapsed(), outcome))
}

/// The time that the search for calls adds to the translation of 100 lines.
fn analysis() -> Result<()> {
    let mut source = String::from("const out = [];\n");
    for line in 0..49 {
        source.push_str(&format!(
            "const r{line} = await tools.s.read({{ path: `folder/${{args[0]}}/{line}.txt`, limit: {line} }});\nout.push(r{line}.text);\n"
        ));
    }
    source.push_str("return out;\n");
    let args = ["x".to_owned()];
    let (mut plain, mut with) = (vec![], vec![]);
    for _ in 0..301 {
        let began = Instant::now();
        pml_script::transpile("a.ts", &source)
            .ok()
            .context("a script")?;
        plain.push(began.elapsed());
        let began = Instant::now();
        let (_, plan) = pml_script::transpile_and_prefetch("a.ts", &source, &args)
            .ok()
            .context("a script")?;
        with.push(began.elapsed());
        ensure!(plan.steps.len() == 49, "{} steps", plan.steps.len());
    }
    let (plain, with) = (median(plain), median(with));
    println!(
        "\n100 lines with 49 calls: translation {:.3} ms, with the search for calls {:.3} ms: {:.3} ms more",
        millis(plain),
        millis(with),
        millis(with.saturating_sub(plain)),
    );
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A server over standard input and output that answers calls at the same time.
fn serve() -> Result<()> {
    let output = Arc::new(Mutex::new(std::io::stdout()));
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if message.get("id").is_none() || message.get("method").is_none() {
            continue;
        }
        let output = output.clone();
        std::thread::spawn(move || {
            let result = answer(&message);
            let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            // A client that is gone reads nothing.
            let _ = writeln!(output, "{reply}").and_then(|()| output.flush());
        });
    }
    Ok(())
}

fn answer(message: &Value) -> Value {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let params = &message["params"];
    match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "bench", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [tool("read"), tool("list")] }),
        Some("tools/call") => {
            std::thread::sleep(CALL);
            let files = (0..FILES).map(|n| json!({ "name": format!("{n}.txt") }));
            let value = match params["name"].as_str() {
                Some("list") => json!({ "files": files.collect::<Vec<_>>() }),
                _ => json!({ "text": params["arguments"]["path"] }),
            };
            json!({ "content": [{ "type": "text", "text": value.to_string() }] })
        }
        _ => json!({}),
    }
}
