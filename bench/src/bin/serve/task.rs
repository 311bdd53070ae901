//! One task, by sequential direct calls and by one script: read 50 JSON files (2 MB), extract versions,
//! write a note.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use pml_bench::{Sample, millis};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::client::{Client, text};
use crate::tokens::{TOKENIZER, Tokens};
use crate::tool_server;

const FILES: usize = 50;
const FILE_BYTES: usize = 40_000;
const LATENCY_MS: u32 = 20;
const ROUNDS: usize = 5;

const SCRIPT: &str = r#"const names = Array.from({ length: 50 }, (_, n) => `package-${n}.json`);
const packages = await Promise.all(names.map((name) => tools.files.read_json({ name })));
const versions = packages.map((found) => `${found.name} ${found.version}`);
await tools.files.write_note({ text: versions.join("\n") });
return versions.length;"#;

/// The measurements of one way to do the task.
struct Side {
    tokens: usize,
    times: Sample,
}

pub async fn measure(pml: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    write_files(folder.path())?;
    let tokens = Tokens::new()?;
    let program = std::env::current_exe()?;
    let latency = LATENCY_MS.to_string();
    let args = json!([tool_server::ARGUMENT, "files", folder.path(), latency]);
    let config = folder.path().join("servers.json");
    let entry = json!({ "command": program, "args": args });
    std::fs::write(
        &config,
        json!({ "mcpServers": { "files": entry } }).to_string(),
    )?;

    let direct = Client::start(
        Command::new(&program)
            .args([tool_server::ARGUMENT, "files"])
            .arg(folder.path())
            .arg(&latency),
    )
    .await?;
    let ours = Client::start(Command::new(pml).arg("serve").arg("--config").arg(&config)).await?;
    script(&ours).await?;

    let (mut by_calls, mut by_script) = (Sample::default(), Sample::default());
    let (mut calls_tokens, mut script_tokens) = (0, 0);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let transcript = sequential(&direct).await?;
        by_calls.push(began.elapsed());
        calls_tokens = tokens.count_all(&transcript)?;
        let began = Instant::now();
        let transcript = script(&ours).await?;
        by_script.push(began.elapsed());
        script_tokens = tokens.count_all(&transcript)?;
    }
    direct.kill().await;
    ours.kill().await;
    print(
        &Side {
            tokens: calls_tokens,
            times: by_calls,
        },
        &Side {
            tokens: script_tokens,
            times: by_script,
        },
    );
    Ok(())
}

fn print(calls: &Side, script: &Side) {
    println!("\n## Read 50 JSON files (2 MB), extract versions, write a note\n");
    println!(
        "A server that takes {LATENCY_MS} ms for a call; tokens of {TOKENIZER}, of everything a model \
         writes and reads once; medians of {ROUNDS}.\n"
    );
    println!("| how | tokens | time |");
    println!("|---|---|---|");
    let line = |how: &str, side: &Side| {
        println!(
            "| {how} | {} | {} |",
            side.tokens,
            millis(side.times.median())
        );
    };
    line("51 direct calls, one after the other", calls);
    line("one `execute_code`", script);
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
    println!(
        "| ratio | {:.0} (target 100) | {:.1} (target 10) |",
        calls.tokens as f64 / script.tokens as f64,
        ratio(calls.times.median(), script.times.median()),
    );
}

fn write_files(folder: &Path) -> Result<()> {
    for n in 0..FILES {
        let mut dependencies = serde_json::Map::new();
        let mut size = 0;
        while size < FILE_BYTES {
            let name = format!("dependency-{n}-{size}");
            let value = json!({ "version": format!("{}.{}.{n}", size % 7, size % 13), "resolved": format!("packages/{name}.tgz"), "dev": size % 2 == 0 });
            size += name.len() + value.to_string().len();
            dependencies.insert(name, value);
        }
        let package = json!({ "name": format!("package-{n}"), "version": format!("1.{n}.0"), "dependencies": dependencies });
        std::fs::write(
            folder.join(format!("package-{n}.json")),
            package.to_string(),
        )?;
    }
    Ok(())
}

/// The task of an agent without code mode; returns everything that the model writes and reads.
async fn sequential(client: &Client) -> Result<Vec<String>> {
    let mut transcript = Vec::new();
    let mut note = String::new();
    for n in 0..FILES {
        let arguments = json!({ "name": format!("package-{n}.json") });
        transcript.push(json!({ "name": "read_json", "arguments": arguments }).to_string());
        let reply = text(&client.call("read_json", arguments).await?);
        let package: Value = serde_json::from_str(&reply)?;
        writeln!(note, "{} {}", package["name"], package["version"])?;
        transcript.push(reply);
    }
    let arguments = json!({ "text": note });
    transcript.push(json!({ "name": "write_note", "arguments": arguments }).to_string());
    transcript.push(text(&client.call("write_note", arguments).await?));
    Ok(transcript)
}

/// The task as one script; returns everything that the model writes and reads.
async fn script(client: &Client) -> Result<Vec<String>> {
    let arguments = json!({ "code": SCRIPT });
    let request = json!({ "name": "execute_code", "arguments": arguments }).to_string();
    let reply = text(&client.call("execute_code", arguments).await?);
    ensure!(reply.starts_with("{\"result\":50"), "{reply}");
    Ok(vec![request, reply])
}
