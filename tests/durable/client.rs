//! A client of `pml serve`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use super::ledger::Ledger;

/// A client of `pml serve` over its standard input and output.
pub struct Client {
    pub process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// A client that cannot ask its user.
    pub fn start(ledger: &Ledger) -> Self {
        Self::start_with(ledger, json!({}))
    }

    /// A client with these capabilities.
    pub fn start_with(ledger: &Ledger, capabilities: Value) -> Self {
        let mut process = ledger
            .pml(&["serve", "--drain", "1s"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("pml serve starts");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut client = Self {
            process,
            input,
            output,
        };
        client.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "t", "version": "1" } } }));
        client.receive(0);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("pml serve reads");
    }

    pub fn execute(&mut self, id: u32, code: &str) {
        self.execute_with(id, json!({ "code": code }));
    }

    /// Calls `execute_code` with these arguments.
    pub fn execute_with(&mut self, id: u32, arguments: Value) {
        self.send(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "execute_code", "arguments": arguments } }),
        );
    }

    /// The reply to a request.
    pub fn receive(&mut self, id: u32) -> Value {
        self.next(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The replies to two requests, which may come in any order.
    pub fn receive_both(&mut self, ids: [u32; 2]) -> [Value; 2] {
        let is_reply = |message: &Value| message.get("method").is_none();
        let first =
            self.next(|message| is_reply(message) && ids.iter().any(|id| message["id"] == *id));
        match first["id"] == ids[0] {
            true => [first, self.receive(ids[1])],
            false => [self.receive(ids[0]), first],
        }
    }

    /// The next request or notification of the server with this method.
    pub fn asked(&mut self, method: &str) -> Value {
        self.next(|message| message["method"] == method)
    }

    fn next(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            let bytes = self.output.read_line(&mut line).expect("a line");
            assert!(bytes > 0, "pml serve has ended");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if is_it(&message) {
                return message;
            }
        }
    }

    /// Closes the connection, and waits for the end of the server.
    pub fn disconnect(self) {
        let Self {
            mut process, input, ..
        } = self;
        drop(input);
        process.wait().expect("the server ends");
    }

    /// Kills the server.
    pub fn kill(mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
