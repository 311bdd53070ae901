//! One message on each line: the transport of standard input and output.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::wire::{self, Read};

/// A script of a mebibyte, escaped as badly as can be, and room to spare.
pub const MAX_MESSAGE: usize = 8 * 1024 * 1024;
/// Requests of one client that are not answered yet.
const MAX_OPEN: usize = 1024;

/// How long a request is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Answered,
    /// It is answered with news, as long as there is somebody to hear them.
    ClientLeaves,
}

/// Reads and writes lines. What is no proper message is answered here and goes no further.
pub struct Lines<R, W> {
    input: BufReader<R>,
    /// The beginning of a line; it survives a `receive` that is dropped half way.
    line: Vec<u8>,
    too_long: bool,
    begun: bool,
    output: Arc<AsyncMutex<W>>,
    open: Arc<Mutex<HashMap<RequestId, Until>>>,
    /// An error on its way out. A task of its own writes it, because `receive` may be dropped at
    /// any moment and half a line must not be left behind.
    answering: Option<JoinHandle<io::Result<()>>>,
    answered: Arc<Notify>,
    ending: Ending,
    ended_at: Option<Instant>,
}

/// What happens when the input ends.
pub struct Ending {
    /// Tells that the client answers nothing any more.
    pub input_ended: CancellationToken,
    /// How long what is open may still be answered.
    pub drain: Duration,
    /// Ends the calls that took longer.
    pub shutdown: CancellationToken,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    pub fn new(input: R, output: W, ending: Ending) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            too_long: false,
            begun: false,
            output: Arc::new(AsyncMutex::new(output)),
            open: Arc::default(),
            answering: None,
            answered: Arc::default(),
            ending,
            ended_at: None,
        }
    }

    /// The next line without its end; `None` when the input has ended.
    async fn next_line(&mut self) -> Option<Read> {
        loop {
            let available = self.input.fill_buf().await.ok()?;
            if available.is_empty() {
                // A last line without an end is a line.
                return (!self.line.is_empty() || self.too_long).then(|| self.take());
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if self.line.len() + taken > MAX_MESSAGE {
                self.too_long = true;
                self.line = Vec::new();
            }
            if !self.too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.input.consume(taken);
            if end.is_some() {
                return Some(self.take());
            }
        }
    }

    fn take(&mut self) -> Read {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            return wire::error(None, ErrorCode::INVALID_REQUEST, "the message is too large");
        }
        match line.trim_ascii() {
            [] => Read::Nothing,
            line => wire::read(line),
        }
    }

    /// Returns when every request has its answer, or the time for that is up.
    async fn all_answered(&mut self) {
        self.ending.input_ended.cancel();
        let until = *self.ended_at.get_or_insert_with(Instant::now) + self.ending.drain;
        loop {
            let answered = self.answered.notified();
            let left = self
                .open()
                .values()
                .filter(|until| **until == Until::Answered)
                .count();
            if left == 0 {
                return;
            }
            if tokio::time::timeout_at(until, answered).await.is_err() {
                tracing::warn!(calls = left, "calls were cut off: the input has ended");
                self.ending.shutdown.cancel();
                return;
            }
        }
    }

    /// Whether the protocol may see the message; otherwise what answers it.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Read {
        self.begun |= wire::begins(&message);
        match &message {
            JsonRpcMessage::Request(request) if self.open().len() >= MAX_OPEN => {
                return wire::error(
                    Some(request.id.clone()),
                    ErrorCode::INVALID_REQUEST,
                    "too many requests are open; wait for answers",
                );
            }
            JsonRpcMessage::Request(request) => {
                let until = match &request.request {
                    ClientRequest::SubscriptionsListenRequest(_) => Until::ClientLeaves,
                    _ => Until::Answered,
                };
                if self.open().contains_key(&request.id) {
                    return wire::error(
                        Some(request.id.clone()),
                        ErrorCode::INVALID_REQUEST,
                        "a request with this id is still open",
                    );
                }
                self.open().insert(request.id.clone(), until);
            }
            // Before the first request there is nothing that these could be about.
            _ if !self.begun => return Read::Nothing,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // It is never answered.
                    self.open().remove(id);
                }
            }
            _ => {}
        }
        Read::Message(Box::new(message))
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Until>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write<W: AsyncWrite + Unpin>(
    output: &AsyncMutex<W>,
    message: &ServerJsonRpcMessage,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
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
        let (output, answered) = (self.output.clone(), self.answered.clone());
        async move {
            let written = write(&output, &message).await;
            answered.notify_one();
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answering) = &mut self.answering {
                let written = answering.await;
                self.answering = None;
                written.ok()?.ok()?;
            }
            let Some(read) = self.next_line().await else {
                self.all_answered().await;
                return None;
            };
            let read = match read {
                Read::Message(message) => self.admit(*message),
                other => other,
            };
            match read {
                Read::Message(message) => return Some(*message),
                Read::Error(error) => {
                    let output = self.output.clone();
                    self.answering =
                        Some(tokio::spawn(async move { write(&output, &error).await }));
                }
                Read::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}
