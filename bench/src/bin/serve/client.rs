//! A minimal MCP client over stdio, so that the server dominates the time.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex as AsyncMutex, oneshot};
use tokio::time::timeout;

/// The requests without a reply, by id.
type Pending = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// Time limit of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// A client with its server process.
pub struct Client {
    input: AsyncMutex<ChildStdin>,
    pending: Pending,
    next_id: AtomicU64,
    child: Child,
}

impl Client {
    /// Starts a server in a process group of its own and does the handshake.
    pub async fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{:?} could not be started", command.as_std()))?;
        let input = child.stdin.take().context("the server has no input")?;
        let output = child.stdout.take().context("the server has no output")?;
        let pending = Pending::default();
        let replies = pending.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let Ok(message) = serde_json::from_str::<Value>(&line) else {
                    continue;
                };
                let id = message["id"]
                    .as_u64()
                    .filter(|_| message.get("method").is_none());
                if let Some(waiter) = id.and_then(|id| lock(&replies).remove(&id)) {
                    let _ = waiter.send(message);
                }
            }
            // Drops the senders, which fails all pending requests.
            lock(&replies).clear();
        });
        let client = Self {
            input: AsyncMutex::new(input),
            pending,
            next_id: AtomicU64::new(1),
            child,
        };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        timeout(HANDSHAKE_TIMEOUT, client.request("initialize", hello)).await??;
        client
            .send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await?;
        Ok(client)
    }

    /// Sends a request and returns the result.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (reply, replied) = oneshot::channel();
        lock(&self.pending).insert(id, reply);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await?;
        let mut message = replied.await.context("the server ended")?;
        match message["error"].take() {
            Value::Null => Ok(message["result"].take()),
            error => bail!("{error}"),
        }
    }

    /// Calls a tool.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value> {
        self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
        .await
    }

    async fn send(&self, message: &Value) -> Result<()> {
        let mut input = self.input.lock().await;
        input.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(input.flush().await?)
    }

    /// Kills the server's process group.
    pub async fn kill(mut self) {
        if let Some(group) = self.child.id() {
            // The group was created for this child.
            let _ = Command::new("kill")
                .args(["-KILL", "--", &format!("-{group}")])
                .status()
                .await;
        }
        let _ = self.child.wait().await;
    }
}

fn lock(pending: &Pending) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<Value>>> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All text blocks of a tool's result.
pub fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().map_or(&[][..], Vec::as_slice);
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    texts.join("\n")
}
