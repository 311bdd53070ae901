//! JSON-RPC over the pipes of a child process, one message a line, tolerant of what real servers
//! print.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex as SyncMutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::transport::Transport;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::process::ServerProcess;
use super::repair::repair;
use super::scan::IdScanner;
use super::{MALFORMED, MAX_MESSAGE_BYTES, TOO_LARGE};

const QUOTED_BYTES: usize = 120;
/// Buffers are used again, but one huge message must not keep its memory for as long as the server
/// lives.
const KEPT_BYTES: usize = 64 * 1024;

/// What went over the pipes, as far as it explains a failure.
#[derive(Debug)]
pub struct Traffic {
    lines: AtomicU64,
    strays: AtomicU64,
    last: SyncMutex<String>,
    handed_over: AtomicI64,
    ended: AtomicBool,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            lines: AtomicU64::new(0),
            strays: AtomicU64::new(0),
            last: SyncMutex::default(),
            handed_over: AtomicI64::new(-1),
            ended: AtomicBool::new(false),
        }
    }
}

impl Traffic {
    /// Lines on standard output that were no JSON-RPC message.
    pub fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// Answers that carried an id nobody waits for: sent twice, too late, or wrong.
    pub fn strays(&self) -> u64 {
        self.strays.load(Ordering::Relaxed)
    }

    /// The latest such line, shortened.
    pub fn last(&self) -> String {
        self.last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether the request was ever given to the pipe. `false` is certain: a request whose turn
    /// had not come when the server ended cannot have had an effect.
    pub fn may_have_been_sent(&self, id: &RequestId) -> bool {
        match id {
            RequestId::Number(id) => *id <= self.handed_over.load(Ordering::Acquire),
            RequestId::String(_) => true,
        }
    }

    /// Whether the server's output has ended.
    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    fn skip(&self, line: &[u8]) {
        self.lines.fetch_add(1, Ordering::Relaxed);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = quote(line);
    }
}

/// The transport handed to rmcp.
pub struct StdioTransport {
    read: BufReader<ChildStdout>,
    line: Vec<u8>,
    /// Set while the rest of a line that is too long streams past.
    oversized: Option<(IdScanner, usize)>,
    /// Messages of a batch that have been read but not yet delivered.
    ready: VecDeque<ServerJsonRpcMessage>,
    write: Arc<Mutex<Option<Outgoing>>>,
    waiting: HashSet<RequestId>,
    traffic: Arc<Traffic>,
    process: ServerProcess,
}

impl StdioTransport {
    pub fn new(
        stdin: ChildStdin,
        stdout: ChildStdout,
        process: ServerProcess,
        traffic: Arc<Traffic>,
    ) -> Self {
        Self {
            read: BufReader::with_capacity(KEPT_BYTES, stdout),
            line: Vec::new(),
            oversized: None,
            ready: VecDeque::new(),
            write: Arc::new(Mutex::new(Some(Outgoing {
                pipe: stdin,
                line: Vec::new(),
            }))),
            waiting: HashSet::new(),
            traffic,
            process,
        }
    }

    /// Reads to the end of the next line. Safe to cancel: what was read stays in `self`.
    /// `None` at the end of the stream.
    async fn next_line(&mut self) -> Option<()> {
        loop {
            let available = self.read.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let piece = &available[..newline.unwrap_or(available.len())];
            match &mut self.oversized {
                Some((scanner, size)) => {
                    scanner.feed(piece);
                    *size += piece.len();
                }
                None if self.line.len() + piece.len() > MAX_MESSAGE_BYTES => {
                    let mut scanner = IdScanner::default();
                    scanner.feed(&self.line);
                    scanner.feed(piece);
                    self.oversized = Some((scanner, self.line.len() + piece.len()));
                    self.line = Vec::new();
                }
                None => self.line.extend_from_slice(piece),
            }
            let used = piece.len() + usize::from(newline.is_some());
            self.read.consume(used);
            if newline.is_some() {
                return Some(());
            }
        }
    }

    /// Turns the line just read into messages in `ready`.
    fn take_line(&mut self) {
        if let Some((scanner, size)) = self.oversized.take() {
            match scanner.id() {
                Some(id) => self.ready.push_back(refusal(
                    id,
                    TOO_LARGE,
                    "the answer is too large",
                    json!({ "bytes": size }),
                )),
                None => self.traffic.skip(b"(a line of many megabytes)"),
            }
            return;
        }
        let line = message_in(self.line.trim_ascii());
        if line.is_empty() {
            self.line.clear();
            return;
        }
        match serde_json::from_slice::<ServerJsonRpcMessage>(line) {
            Ok(message) if !is_half_a_greeting(&message) => self.ready.push_back(message),
            _ => match read(line) {
                Ok(Value::Array(batch)) => {
                    for value in batch {
                        let message = message_from(value, &self.waiting, &self.traffic);
                        self.ready.extend(message);
                    }
                }
                Ok(value) => {
                    let message = message_from(value, &self.waiting, &self.traffic);
                    self.ready.extend(message);
                }
                Err(error) => match self.answered(line) {
                    Some(id) => self.ready.push_back(unreadable(id, line, &error)),
                    None => self.traffic.skip(line),
                },
            },
        }
        self.line.clear();
        self.line.shrink_to(KEPT_BYTES);
    }
}

impl StdioTransport {
    /// The call of ours that a line which cannot be read belongs to.
    fn answered(&self, line: &[u8]) -> Option<i64> {
        let mut scanner = IdScanner::default();
        scanner.feed(line);
        let id = scanner.id()?;
        self.waiting.contains(&RequestId::Number(id)).then_some(id)
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Request(request) => {
                self.waiting.insert(request.id.clone());
                if let RequestId::Number(id) = &request.id {
                    self.traffic.handed_over.fetch_max(*id, Ordering::AcqRel);
                }
            }
            JsonRpcMessage::Notification(notification) => {
                // An answer to a call that we gave up is no stray: it is merely late.
                if let rmcp::model::ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.waiting.remove(id);
                }
            }
            _ => {}
        }
        let write = self.write.clone();
        async move {
            match write.lock().await.as_mut() {
                Some(outgoing) => outgoing.send(&message).await,
                None => Err(std::io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                let answered = match &message {
                    JsonRpcMessage::Response(response) => Some(&response.id),
                    JsonRpcMessage::Error(error) => error.id.as_ref(),
                    _ => None,
                };
                if let Some(id) = answered
                    && !self.waiting.remove(id)
                {
                    self.traffic.strays.fetch_add(1, Ordering::Relaxed);
                }
                return Some(message);
            }
            if self.next_line().await.is_none() {
                self.traffic.ended.store(true, Ordering::Release);
                return None;
            }
            self.take_line();
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // A writer stuck on a server that no longer reads holds the lock; stopping the process
        // frees it, and the input is closed with it.
        if let Ok(mut write) = self.write.try_lock() {
            write.take();
        }
        self.process.stop().await;
        Ok(())
    }
}

/// The way to the server, with a buffer that is used for one message after the other.
struct Outgoing {
    pipe: ChildStdin,
    line: Vec<u8>,
}

impl Outgoing {
    async fn send(&mut self, message: &ClientJsonRpcMessage) -> std::io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, message)?;
        self.line.push(b'\n');
        self.pipe.write_all(&self.line).await?;
        self.line.shrink_to(KEPT_BYTES);
        self.pipe.flush().await
    }
}

/// Where the message begins on a line: behind a byte order mark, or behind what a server printed
/// without ending its line.
fn message_in(line: &[u8]) -> &[u8] {
    const BEGINNING: &[u8] = b"{\"jsonrpc\"";
    if matches!(line.first(), None | Some(b'{' | b'[')) {
        return line;
    }
    let found = line.windows(BEGINNING.len()).position(|w| w == BEGINNING);
    &line[found.unwrap_or(0)..]
}

/// Whether this is an answer to `initialize` that lacks something: it is read as one of a kind that
/// nobody knows.
fn is_half_a_greeting(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Response(response)
        if matches!(&response.result, ServerResult::CustomResult(result)
            if result.0.get("protocolVersion").is_some()))
}

/// Reads a line, mended if it has to be.
fn read(line: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(line).or_else(|error| match repair(line) {
        Some(mended) => serde_json::from_slice(&mended),
        None => Err(error),
    })
}

/// Ends the call whose answer cannot be read.
fn unreadable(id: i64, line: &[u8], error: &serde_json::Error) -> ServerJsonRpcMessage {
    let why = match serde_json::from_slice::<IgnoredAny>(line) {
        Ok(_) => "the answer is nested too deeply to be read",
        Err(_) => "the answer is not valid JSON",
    };
    let details = json!({ "answer": quote(line), "reason": error.to_string() });
    refusal(id, MALFORMED, why, details)
}

/// Reads `value` as a message. An answer in the wrong shape still ends the call it belongs to;
/// anything else is noise.
fn message_from(
    mut value: Value,
    waiting: &HashSet<RequestId>,
    traffic: &Traffic,
) -> Option<ServerJsonRpcMessage> {
    complete(&mut value);
    let error = match serde_json::from_value::<ServerJsonRpcMessage>(value.clone()) {
        Ok(message) => return Some(message),
        Err(error) => error,
    };
    let id = match &value["id"] {
        Value::Number(number) if value.get("method").is_none() => number.as_i64(),
        _ => None,
    };
    // A line of a log may have numbers too.
    let id = id.filter(|id| waiting.contains(&RequestId::Number(*id)) && is_answer(&value));
    let text = value.to_string();
    match id {
        Some(id) => Some(refusal(
            id,
            MALFORMED,
            "the answer is not valid JSON-RPC",
            json!({ "answer": quote(text.as_bytes()), "reason": error.to_string() }),
        )),
        None => {
            traffic.skip(text.as_bytes());
            None
        }
    }
}

fn is_answer(value: &Value) -> bool {
    ["jsonrpc", "result", "error"]
        .iter()
        .any(|key| value.get(key).is_some())
}

/// Adds what some servers leave out and nobody needs, and takes away what they write out although
/// there is none of it.
fn complete(value: &mut Value) {
    let Some(message) = value.as_object_mut() else {
        return;
    };
    if message.contains_key("result") && message.get("error") == Some(&Value::Null) {
        message.remove("error");
    }
    if message.contains_key("error") && message.get("result") == Some(&Value::Null) {
        message.remove("result");
    }
    let Some(Value::Object(result)) = message.get_mut("result") else {
        return;
    };
    if !result.contains_key("protocolVersion") {
        return;
    }
    let about = result.entry("serverInfo").or_insert_with(|| json!({}));
    if let Value::Object(about) = about {
        for key in ["name", "version"] {
            about.entry(key).or_insert_with(|| json!("unknown"));
        }
    }
}

/// Our own ids are numbers, so only a number can be the id of a call of ours.
fn refusal(id: i64, code: ErrorCode, message: &'static str, data: Value) -> ServerJsonRpcMessage {
    JsonRpcMessage::error(
        ErrorData::new(code, message, Some(data)),
        Some(RequestId::Number(id)),
    )
}

fn quote(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(QUOTED_BYTES)]).into_owned();
    if line.len() > QUOTED_BYTES {
        text + "…"
    } else {
        text
    }
}
