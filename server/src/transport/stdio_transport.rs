//! The stdio transport: one JSON-RPC message per line.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::jsonrpc::{self, MAX_MESSAGE_BYTES, Parsed};
use crate::tasks::legacy_wire;

/// The open requests of one client.
const MAX_OPEN_REQUESTS: usize = 1024;

/// How long a request is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestLifetime {
    UntilResponse,
    /// A subscription: it gets notifications until the client disconnects.
    UntilDisconnect,
}

/// Reads and writes lines. An invalid message is answered here and not passed on.
pub struct StdioTransport<R, W> {
    input: BufReader<R>,
    /// The line so far. It survives a `receive` that is dropped half way.
    line: Vec<u8>,
    is_too_long: bool,
    /// The message that starts a connection was received.
    has_started: bool,
    output: Arc<AsyncMutex<W>>,
    open: Arc<Mutex<HashMap<RequestId, RequestLifetime>>>,
    /// Writes an error reply. It is a task of its own because `receive` may be dropped at any time,
    /// which must not leave half a line in the output.
    error_write: Option<JoinHandle<io::Result<()>>>,
    /// Notified after each response.
    responded: Arc<Notify>,
    drain: DrainOptions,
    /// Whether tasks of MCP 2025-11-25 are served.
    has_tasks: bool,
    /// When the input ended (EOF).
    ended_at: Option<Instant>,
}

/// What happens to open requests at the end of the input.
pub struct DrainOptions {
    /// Cancelled at the end of the input: the client answers no request any more.
    pub input_ended: CancellationToken,
    /// How long open requests have to finish.
    pub time: Duration,
    /// Cancelled after that, which ends the calls that are left.
    pub shutdown: CancellationToken,
}

impl<R, W> StdioTransport<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// `drain` says what happens at the end of `input`.
    pub fn new(input: R, output: W, drain: DrainOptions) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_too_long: false,
            has_started: false,
            output: Arc::new(AsyncMutex::new(output)),
            open: Arc::default(),
            error_write: None,
            responded: Arc::default(),
            drain,
            has_tasks: false,
            ended_at: None,
        }
    }

    /// The same transport for a server with tasks or without.
    #[must_use]
    pub fn with_tasks(mut self, has_tasks: bool) -> Self {
        self.has_tasks = has_tasks;
        self
    }

    /// Parses the next line; `None` at the end of the input.
    async fn next_line(&mut self) -> Option<Parsed> {
        loop {
            let available = self.input.fill_buf().await.ok()?;
            if available.is_empty() {
                // The last line may lack its newline.
                return (!self.line.is_empty() || self.is_too_long).then(|| self.parse_line());
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if self.line.len() + taken > MAX_MESSAGE_BYTES {
                self.is_too_long = true;
                self.line = Vec::new();
            }
            if !self.is_too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.input.consume(taken);
            if end.is_some() {
                return Some(self.parse_line());
            }
        }
    }

    fn parse_line(&mut self) -> Parsed {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            return jsonrpc::error(None, ErrorCode::INVALID_REQUEST, "the message is too large");
        }
        match line.trim_ascii() {
            [] => Parsed::Ignored,
            line if self.has_tasks => match legacy_wire::renamed(line) {
                Some(renamed) => jsonrpc::parse(&renamed),
                None => jsonrpc::parse(line),
            },
            line => jsonrpc::parse(line),
        }
    }

    /// Returns when every open request has its response, or the drain time is up.
    async fn drain_requests(&mut self) {
        self.drain.input_ended.cancel();
        let deadline = *self.ended_at.get_or_insert_with(Instant::now) + self.drain.time;
        loop {
            let responded = self.responded.notified();
            let left = self
                .open()
                .values()
                .filter(|lifetime| **lifetime == RequestLifetime::UntilResponse)
                .count();
            if left == 0 {
                return;
            }
            if tokio::time::timeout_at(deadline, responded).await.is_err() {
                tracing::warn!(calls = left, "calls were cut off: the input has ended");
                self.drain.shutdown.cancel();
                return;
            }
        }
    }

    /// The message, if it may be passed on; otherwise the reply to it.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Parsed {
        self.has_started |= jsonrpc::may_be_first(&message);
        match &message {
            JsonRpcMessage::Request(request) if self.open().len() >= MAX_OPEN_REQUESTS => {
                return jsonrpc::error(
                    Some(request.id.clone()),
                    ErrorCode::INVALID_REQUEST,
                    "too many requests are open; wait for answers",
                );
            }
            JsonRpcMessage::Request(request) => {
                let lifetime = match &request.request {
                    ClientRequest::SubscriptionsListenRequest(_) => {
                        RequestLifetime::UntilDisconnect
                    }
                    _ => RequestLifetime::UntilResponse,
                };
                if self.open().contains_key(&request.id) {
                    return jsonrpc::error(
                        Some(request.id.clone()),
                        ErrorCode::INVALID_REQUEST,
                        "a request with this id is still open",
                    );
                }
                self.open().insert(request.id.clone(), lifetime);
            }
            // Before the first request there is nothing that a notification or a response can refer to.
            _ if !self.has_started => return Parsed::Ignored,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // A cancelled request gets no response.
                    self.open().remove(id);
                }
            }
            _ => {}
        }
        Parsed::Message(Box::new(message))
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, RequestLifetime>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write<W: AsyncWrite + Unpin>(
    output: &AsyncMutex<W>,
    message: &ServerJsonRpcMessage,
    has_tasks: bool,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    if has_tasks
        && let JsonRpcMessage::Response(response) = message
        && let ServerResult::InitializeResult(_) = &response.result
    {
        line = legacy_wire::with_capability(line);
    }
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for StdioTransport<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        if let Some(id) = id {
            self.open().remove(&id);
        }
        let (output, responded) = (self.output.clone(), self.responded.clone());
        let has_tasks = self.has_tasks;
        async move {
            let written = write(&output, &message, has_tasks).await;
            responded.notify_one();
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(error_write) = &mut self.error_write {
                let written = error_write.await;
                self.error_write = None;
                written.ok()?.ok()?;
            }
            let Some(parsed) = self.next_line().await else {
                self.drain_requests().await;
                return None;
            };
            let parsed = match parsed {
                Parsed::Message(message) => self.admit(*message),
                other => other,
            };
            match parsed {
                Parsed::Message(message) => return Some(*message),
                Parsed::Error(error) => {
                    let output = self.output.clone();
                    self.error_write =
                        Some(tokio::spawn(
                            async move { write(&output, &error, false).await },
                        ));
                }
                Parsed::Ignored => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}
