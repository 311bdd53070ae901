//! JSON-RPC over the pipes of a child process, one message per line.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::lenient::{parse_line, too_large};
use super::line_reader::{KEPT_BYTES, Line, LineReader};
use super::process::ServerProcess;
use super::traffic::Traffic;
use crate::off_loop::off_loop;

/// The transport for rmcp.
pub struct StdioTransport {
    lines: LineReader<ChildStdout>,
    /// Messages of a batch that are parsed but not yet delivered.
    ready: VecDeque<ServerJsonRpcMessage>,
    writer: Arc<Mutex<Option<LineWriter>>>,
    /// Ids of requests without a response.
    waiting: HashSet<RequestId>,
    traffic: Arc<Traffic>,
    /// Whose texts are worked on one at a time.
    owner: String,
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
            lines: LineReader::new(stdout),
            ready: VecDeque::new(),
            writer: Arc::new(Mutex::new(Some(LineWriter {
                pipe: stdin,
                line: Vec::new(),
            }))),
            waiting: HashSet::new(),
            traffic,
            owner: format!("process {}", process.id),
            process,
        }
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
                    self.traffic.mark_sent(*id);
                }
            }
            JsonRpcMessage::Notification(notification) => {
                // A response to a request that we cancelled is late, not a stray.
                if let rmcp::model::ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.waiting.remove(id);
                }
            }
            _ => {}
        }
        let writer = self.writer.clone();
        async move {
            match writer.lock().await.as_mut() {
                Some(writer) => writer.send(&message).await,
                None => Err(std::io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                let id = match &message {
                    JsonRpcMessage::Response(response) => Some(&response.id),
                    JsonRpcMessage::Error(error) => error.id.as_ref(),
                    _ => None,
                };
                if let Some(id) = id
                    && !self.waiting.remove(id)
                {
                    self.traffic.count_stray();
                }
                return Some(message);
            }
            self.traffic.held.wait_for_room().await;
            match self.lines.next().await {
                Some(Line::Whole(line)) => {
                    let bytes = line.len();
                    off_loop(&self.owner, line.len(), || {
                        parse_line(line, &self.waiting, &self.traffic, &mut self.ready);
                    });
                    if let Some(JsonRpcMessage::Response(response)) = self.ready.front()
                        && let RequestId::Number(id) = response.id
                        && self.waiting.contains(&response.id)
                    {
                        self.traffic.held.hold(id, bytes);
                    }
                }
                Some(Line::TooLong { id, bytes }) => match id {
                    Some(id) => self.ready.push_back(too_large(id, bytes)),
                    None => self.traffic.count_skipped(b"(a line of many megabytes)"),
                },
                None => {
                    self.traffic.mark_ended();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // A writer that is blocked on a server which no longer reads holds the lock. Stopping the
        // process unblocks it and closes the pipe.
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.take();
        }
        self.process.stop().await;
        Ok(())
    }
}

/// Writes messages to the pipe, with one buffer for all of them.
struct LineWriter {
    pipe: ChildStdin,
    line: Vec<u8>,
}

impl LineWriter {
    async fn send(&mut self, message: &ClientJsonRpcMessage) -> std::io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, message)?;
        self.line.push(b'\n');
        self.pipe.write_all(&self.line).await?;
        self.line.shrink_to(KEPT_BYTES);
        self.pipe.flush().await
    }
}
