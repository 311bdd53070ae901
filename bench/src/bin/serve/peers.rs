//! The servers under test, each with one tool behind it that sleeps.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use pml_bench::{install_npm, install_pip};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::client::{Client, text};
use crate::tool_server;

const EXECUTOR: &str = "1.5.9";
const FASTMCP: &str = "4.1.0";

/// A running code-mode server, with the scripts in its language.
pub struct CodeModeServer {
    pub name: String,
    client: Client,
    tool: &'static str,
    /// Returns 42.
    pub trivial: &'static str,
    /// Calls the sleeping tool 40 times at once; returns 40.
    pub fan_out: String,
    /// Never returns.
    pub endless: &'static str,
    /// Allocates without end.
    pub heap_bomb: &'static str,
    _folder: TempDir,
}

impl CodeModeServer {
    /// Runs a script and returns the text of the reply, of a success or a failure.
    pub async fn run(&self, code: &str) -> Result<String> {
        let reply = self.client.call(self.tool, json!({ "code": code })).await?;
        Ok(text(&reply))
    }

    /// Kills the server.
    pub async fn kill(self) {
        self.client.kill().await;
    }
}

/// pml itself.
pub async fn pml(binary: &Path) -> Result<CodeModeServer> {
    pml_with(binary, "pml", json!({})).await
}

/// pml with further sections of its configuration.
pub async fn pml_with(binary: &Path, name: &str, sections: Value) -> Result<CodeModeServer> {
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("servers.json");
    let sleeper =
        json!({ "command": std::env::current_exe()?, "args": [tool_server::ARGUMENT, "sleep"] });
    let mut pml = sections;
    pml["limits"] = json!({ "concurrentCalls": 40 });
    let text = json!({ "mcpServers": { "bench": sleeper }, "pml": pml });
    std::fs::write(&config, text.to_string())?;
    let mut command = Command::new(binary);
    command.arg("serve").arg("--config").arg(&config);
    Ok(CodeModeServer {
        name: name.to_owned(),
        client: Client::start(&mut command).await?,
        tool: "execute_code",
        trivial: "return 6 * 7",
        fan_out: "return (await Promise.all(Array.from({ length: 40 }, (_, n) => tools.bench.sleep({ n })))).filter((text) => text === 'slept').length".to_owned(),
        endless: "for (;;) {}",
        heap_bomb: "const all = []; for (;;) all.push(new Array(100000).fill(1.5))",
        _folder: folder,
    })
}

/// executor: QuickJS in WebAssembly behind a local daemon.
pub async fn executor() -> Result<CodeModeServer> {
    let binaries = install_npm("executor", EXECUTOR)?;
    let packages = binaries
        .parent()
        .context("the folder of binaries has no parent")?;
    // The program itself: npm's link is a script that starts it and exits.
    let program = packages.join("executor-linux-x64/bin/executor");
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(program);
    command
        .args(["mcp", "--scope"])
        .arg(folder.path())
        .current_dir(folder.path())
        .env("HOME", folder.path());
    let peer = CodeModeServer {
        name: format!("executor {EXECUTOR}"),
        client: Client::start(&mut command).await?,
        tool: "execute",
        trivial: "return 6 * 7",
        fan_out: "return (await Promise.all(Array.from({ length: 40 }, (_, n) => tools.bench.user.main.sleep({ n })))).filter((answer) => answer.ok).length".to_owned(),
        endless: "for (;;) {}",
        heap_bomb: "const all = []; for (;;) all.push(new Array(100000).fill(1.5))",
        _folder: folder,
    };
    let add = json!({
        "name": "bench", "slug": "bench", "transport": "stdio",
        "command": std::env::current_exe()?, "args": [tool_server::ARGUMENT, "sleep"],
    });
    approved(
        &peer.client,
        &format!("return await tools.executor.mcp.addServer({add})"),
    )
    .await?;
    let connect = json!({
        "owner": "user", "name": "main", "integration": "bench", "template": "none",
        "from": { "provider": "file", "id": "unused" },
    });
    let connected = format!("return await tools.executor.coreTools.connections.create({connect})");
    approved(&peer.client, &connected).await?;
    Ok(peer)
}

/// Runs a script of executor's and accepts its approval requests.
async fn approved(client: &Client, code: &str) -> Result<()> {
    let mut reply = client.call("execute", json!({ "code": code })).await?;
    while reply["structuredContent"]["status"] == "waiting_for_interaction" {
        let id = &reply["structuredContent"]["executionId"];
        let allow = json!({ "executionId": id, "action": "accept", "content": "{}" });
        reply = client.call("resume", allow).await?;
    }
    let outcome = &reply["structuredContent"]["result"]["ok"];
    ensure!(
        *outcome == Value::Bool(true),
        "executor could not be set up: {reply}"
    );
    Ok(())
}

/// FastMCP with its code mode: a subset of Python; the sleeping tool runs in the same process.
pub async fn fastmcp() -> Result<CodeModeServer> {
    let environment = install_pip("fastmcp", &format!("fastmcp[code-mode]=={FASTMCP}"))?;
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("server.py");
    std::fs::write(&script, FASTMCP_SERVER)?;
    let mut command = Command::new(environment.join("bin/python"));
    command.arg(&script);
    Ok(CodeModeServer {
        name: format!("FastMCP {FASTMCP}"),
        client: Client::start(&mut command).await?,
        tool: "execute",
        trivial: "return 6 * 7",
        fan_out: "import asyncio\nanswers = await asyncio.gather(*[call_tool('sleep', {'n': n}) for n in range(40)])\nreturn len(answers)".to_owned(),
        endless: "while True:\n    pass",
        heap_bomb: "found = []\nwhile True:\n    found.append('x' * 1000000)",
        _folder: folder,
    })
}

const FASTMCP_SERVER: &str = "
import asyncio
from fastmcp import FastMCP
from fastmcp.experimental.transforms.code_mode import CodeMode

server = FastMCP('bench', transforms=[CodeMode()])


@server.tool
async def sleep(n: int) -> str:
    await asyncio.sleep(0.1)
    return 'slept'


server.run(show_banner=False)
";
