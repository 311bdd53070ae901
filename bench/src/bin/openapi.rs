//! Services with an OpenAPI document: the time to load one, and the overhead of a call against a bare
//! reqwest call in the same run.
//!
//! `cargo run --release -p pml-bench --bin openapi [DOCUMENT]`

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use pml_bench::{Sample, describe_machine, millis};
use pml_gateway::{Config, Gateway, RunLimits, RunScope};
use serde_json::{Value, json};

// Rounds are short, so that noise on the machine affects both clients alike.
const ROUNDS: usize = 400;
const CALLS_PER_ROUND: usize = 10;
const LOADS: usize = 9;
const OPERATIONS: usize = 3_000;
const LIST_TIMEOUT: Duration = Duration::from_secs(120);

fn main() -> Result<()> {
    let address = serve()?;
    pml_gateway::install_tls();
    // One thread: wake-ups across busy cores would hide the difference.
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(measure(&address))
}

async fn measure(address: &str) -> Result<()> {
    println!("# OpenAPI\n");
    println!("{}; peer: a bare reqwest call\n", describe_machine());
    println!("| what | pml | reqwest | ratio | target |");
    println!("|---|---|---|---|---|");
    let folder = tempfile::tempdir()?;
    let small = folder.path().join("small.json");
    std::fs::write(&small, document(1).to_string())?;
    calls(&small, address).await?;
    let large = folder.path().join("large.json");
    std::fs::write(&large, document(OPERATIONS).to_string())?;
    loads(&format!("{OPERATIONS} operations"), &large, address).await?;
    if let Some(named) = std::env::args().nth(1) {
        let path = PathBuf::from(&named).canonicalize()?;
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        loads(&name.unwrap_or(named), &path, address).await?;
    }
    Ok(())
}

/// Sequential calls; the two clients alternate.
async fn calls(document: &PathBuf, address: &str) -> Result<()> {
    let gateway = open(document, address)?;
    let scope = gateway.run(unlimited());
    let bare = reqwest::Client::builder().tcp_nodelay(true).build()?;
    let url = format!("{address}/items/0");
    let arguments = json!({ "id": 0 });
    call(&gateway, &scope, &arguments).await?;
    let (mut bare_times, mut our_times) = (Sample::default(), Sample::default());
    for _ in 0..ROUNDS {
        for _ in 0..CALLS_PER_ROUND {
            let began = Instant::now();
            let answer: Value = bare.get(&url).send().await?.json().await?;
            bare_times.push(began.elapsed());
            anyhow::ensure!(answer["ok"] == true);
        }
        for _ in 0..CALLS_PER_ROUND {
            let began = Instant::now();
            call(&gateway, &scope, &arguments).await?;
            our_times.push(began.elapsed());
        }
    }
    let (bare, ours) = (bare_times.median(), our_times.median());
    println!(
        "| one call (median of {}) | {:.1} µs | {:.1} µs | {:.3} | at most 1.15 |",
        our_times.len(),
        ours.as_secs_f64() * 1e6,
        bare.as_secs_f64() * 1e6,
        ours.as_secs_f64() / bare.as_secs_f64(),
    );
    gateway.shutdown().await;
    Ok(())
}

/// From the start of the gateway until every operation is a tool.
async fn loads(what: &str, document: &PathBuf, address: &str) -> Result<()> {
    let mut times = Sample::default();
    let mut tools = 0;
    for _ in 0..LOADS {
        let gateway = open(document, address)?;
        let began = Instant::now();
        let listing = gateway.list(None, LIST_TIMEOUT).await;
        times.push(began.elapsed());
        if let Some((_, problem)) = listing.problems.into_iter().next() {
            return Err(problem.into());
        }
        tools = listing.tools.len();
        gateway.shutdown().await;
    }
    println!(
        "| {what}: {tools} tools (median of {LOADS}) | {} | | | |",
        millis(times.median())
    );
    Ok(())
}

async fn call(gateway: &Gateway, scope: &RunScope, arguments: &Value) -> Result<()> {
    let answer = gateway
        .call(scope, "api:get_items_id", arguments.clone())
        .await?;
    anyhow::ensure!(answer.value["ok"] == true);
    Ok(())
}

fn open(document: &PathBuf, address: &str) -> Result<Gateway> {
    let file = json!({
        "mcpServers": { "api": { "openapi": document, "baseUrl": address } },
        "pml": { "policy": { "budget": { "calls": 1_000_000 } } }
    });
    let config = Config::parse("bench.json".as_ref(), &file.to_string(), &|_| None)?;
    Ok(Gateway::open(config)?)
}

fn unlimited() -> RunLimits {
    RunLimits {
        calls: Some(1_000_000),
        ..RunLimits::default()
    }
}

/// A document with this many operations, all of which use the same schemas.
fn document(operations: usize) -> Value {
    let parameters =
        json!([{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }]);
    let ok = json!({ "200": { "description": "ok", "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Item" } } } } });
    let mut paths = serde_json::Map::new();
    for n in 0..operations {
        let path = if n == 0 {
            "/items/{id}".to_owned()
        } else {
            format!("/items{n}/{{id}}")
        };
        paths.insert(path, json!({ "get": { "summary": format!("Get item {n}"), "parameters": parameters, "responses": ok } }));
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Bench", "version": "1" },
        "paths": paths,
        "components": { "schemas": { "Item": {
            "type": "object",
            "properties": { "ok": { "type": "boolean" }, "parts": { "type": "array", "items": { "$ref": "#/components/schemas/Item" } } }
        } } }
    })
}

/// A service on a thread of its own that answers every request alike. Returns its address.
fn serve() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port for the service")?;
    let address = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    Ok(address)
}

/// Answers the requests of one connection, which have no bodies.
fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    const BODY: &str = r#"{"ok":true,"parts":[]}"#;
    stream.set_nodelay(true)?;
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    loop {
        line.clear();
        if reader.by_ref().read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line == "\r\n" {
            stream.write_all(answer.as_bytes())?;
        }
    }
}
