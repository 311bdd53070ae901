//! `pml serve` and its client, one request at a time.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// A server that ends with its client.
pub struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Server {
    pub fn start(mut command: Command) -> Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take().context("no input")?;
        let output = BufReader::new(process.stdout.take().context("no output")?);
        let mut server = Self {
            process,
            input,
            output,
            last_id: 0,
        };
        server.request(
            "initialize",
            json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" } }),
        )?;
        writeln!(
            server.input,
            "{}",
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
        )?;
        Ok(server)
    }

    pub fn execute(&mut self, code: &str) -> Result<()> {
        let arguments = json!({ "name": "execute_code", "arguments": { "code": code } });
        let reply = self.request("tools/call", arguments)?;
        ensure!(
            reply["result"]["isError"] == false,
            "the script failed: {reply}"
        );
        Ok(())
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        writeln!(
            self.input,
            "{}",
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
        )?;
        let mut line = String::new();
        loop {
            line.clear();
            ensure!(self.output.read_line(&mut line)? > 0, "pml serve has ended");
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id && message.get("method").is_none() {
                return Ok(message);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
