//! Clients and server processes for the tests of `pml serve`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::gateway::installed::python_servers;
use crate::support::repository;

/// A minimal client of a server over standard input and output.
pub struct StdioClient {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
    next_id: u64,
    /// Notifications and requests that arrived before a response.
    pub notices: Vec<Value>,
}

impl StdioClient {
    /// Starts the server and does the `initialize` handshake.
    pub fn open(place: &Place, flags: &[&str]) -> Self {
        Self::open_with(place, flags, json!({}))
    }

    pub fn open_with(place: &Place, flags: &[&str], capabilities: Value) -> Self {
        Self::without_handshake(place, flags).with_handshake(capabilities)
    }

    /// A server that a command starts, with the handshake.
    pub fn start(command: Command) -> Self {
        Self::spawn(command).with_handshake(json!({}))
    }

    fn with_handshake(self, capabilities: Value) -> Self {
        let mut lines = self;
        let hello = lines.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "pml", "{hello}");
        lines.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        lines
    }

    /// Starts the server and sends nothing.
    pub fn without_handshake(place: &Place, flags: &[&str]) -> Self {
        Self::spawn(place.command(&[&["serve", "--log-level", "warn"], flags].concat()))
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        Self {
            input: child.stdin.take(),
            output: child.stdout.take().map(BufReader::new),
            child,
            next_id: 0,
            notices: Vec::new(),
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).expect("the server reads");
    }

    /// The next message, which must be JSON.
    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        let output = self.output.as_mut().expect("`listen` was not called");
        let count = output.read_line(&mut line).expect("the server writes");
        assert!(count > 0, "the server ended: {}", self.stderr());
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn stderr(&mut self) -> String {
        let mut text = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.read_to_string(&mut text);
        }
        text
    }

    /// Sends a request without waiting for the response.
    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Reads all further messages in a thread, so that neither side blocks the other.
    pub fn listen(&mut self) -> std::sync::mpsc::Receiver<Value> {
        let (sender, messages) = std::sync::mpsc::channel();
        let mut output = self.output.take().expect("`listen` was not called");
        std::thread::spawn(move || {
            let mut line = String::new();
            while output.read_line(&mut line).is_ok_and(|count| count > 0) {
                let message = serde_json::from_str(&line).expect("a message is JSON");
                if sender.send(message).is_err() {
                    return;
                }
                line.clear();
            }
        });
        messages
    }

    /// Waits for the response to a request. Other messages are kept in `notices`.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.notices.push(message);
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    pub fn call(&mut self, tool: &str, args: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": args }));
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// Runs a script and returns its envelope.
    pub fn run(&mut self, code: &str) -> Value {
        let result = self.call("execute_code", json!({ "code": code }));
        envelope(&result)
    }

    /// Closes the input and waits for the exit. Returns exit code, remaining output and standard
    /// error.
    pub fn close(mut self) -> (Option<i32>, String, String) {
        drop(self.input.take());
        let mut rest = String::new();
        if let Some(output) = &mut self.output {
            let _ = output.read_to_string(&mut rest);
        }
        let logged = self.stderr();
        let code = self.child.wait().expect("the server ends").code();
        (code, rest, logged)
    }

    pub fn terminate(&self) {
        // SAFETY: the process is our child and has not been waited for.
        unsafe { libc::kill(self.id() as i32, libc::SIGTERM) };
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result with one content block.
pub fn text(result: &Value) -> &str {
    let content = result["content"].as_array().expect("there is content");
    content[0]["text"]
        .as_str()
        .expect("the first block is text")
}

pub fn envelope(result: &Value) -> Value {
    serde_json::from_str(text(result)).unwrap_or_else(|error| panic!("{error}: {result}"))
}

/// A server over HTTP.
pub struct HttpServer {
    child: Child,
    pub url: String,
    /// The token that the server made.
    pub token: Option<String>,
}

impl HttpServer {
    /// A server without a token.
    pub fn open(place: &Place, flags: &[&str]) -> Self {
        let flags = [
            &["serve", "--http", "127.0.0.1:0", "--no-token"][..],
            &["--log-format", "json"],
            flags,
        ]
        .concat();
        Self::start(place.command(&flags))
    }

    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut logged = BufReader::new(child.stderr.take().expect("standard error is a pipe"));
        let mut token = None;
        let url = loop {
            let mut line = String::new();
            let count = logged.read_line(&mut line).expect("the server logs");
            assert!(count > 0, "the server ended before it listened");
            let line: Value =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if let Some(made) = line["token"].as_str() {
                token = Some(made.to_owned());
            }
            if let Some(url) = line["url"].as_str() {
                break url.to_owned();
            }
        };
        // Drains the log, so that the server never blocks on a full pipe.
        std::thread::spawn(move || std::io::copy(&mut logged, &mut std::io::sink()));
        Self { child, url, token }
    }

    pub fn authority(&self) -> &str {
        self.url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp")
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends one request; returns status, headers and body.
    pub fn post(&self, headers: &[(&str, &str)], body: &str) -> (u16, String, String) {
        self.send("POST", headers, body)
    }

    pub fn send(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String, String) {
        self.send_to("/mcp", method, headers, body)
    }

    pub fn send_to(
        &self,
        path: &str,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String, String) {
        let mut stream =
            std::net::TcpStream::connect(self.authority()).expect("the server listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        let defaults = [
            ("Host", self.authority()),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        for (name, value) in defaults {
            if !headers
                .iter()
                .any(|(given, _)| given.eq_ignore_ascii_case(name))
            {
                request += &format!("{name}: {value}\r\n");
            }
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += "\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let _ = stream.write_all(body.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or(0);
        (status, head.to_owned(), body.to_owned())
    }

    pub fn terminate(&self) {
        // SAFETY: the process is our child and has not been waited for.
        unsafe { libc::kill(self.id() as i32, libc::SIGTERM) };
    }

    /// How long the server took to exit, or `None` after `limit`.
    pub fn ended_within(&mut self, limit: Duration) -> Option<Duration> {
        let began = Instant::now();
        while began.elapsed() < limit {
            if self
                .child
                .try_wait()
                .expect("the child can be waited for")
                .is_some()
            {
                return Some(began.elapsed());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a plan with the Python SDK.
pub fn python(plan: &Value) -> Value {
    let script = repository().join("tests/serve/client.py");
    let mut child = Command::new(python_servers().join("venv/bin/python"))
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut input = child.stdin.take().expect("standard input is a pipe");
    input
        .write_all(plan.to_string().as_bytes())
        .expect("Python reads");
    drop(input);
    let output = child.wait_with_output().expect("Python ends");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// A plan for a server that the SDK starts itself.
pub fn plan_for_stdio(place: &Place, mode: &str, steps: Value) -> Value {
    let binary = crate::support::binary();
    json!({
        "mode": mode, "steps": steps,
        "command": [binary, "serve", "--log-level", "warn"],
        "folder": place.folder(),
        "env": { "PML_TRUST": "1", "HOME": place.folder().parent(), "PATH": std::env::var("PATH").unwrap_or_default() },
    })
}
