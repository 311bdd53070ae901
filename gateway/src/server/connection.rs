//! An open source, shared by all runs, and how it is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::credentials::Versions;
use crate::call::{FailedAttempt, ToolCall};
use crate::source::{McpSession, OpenSource, ToolSource};
use crate::transport::StderrTail;

/// An open source with the times of its use.
pub(crate) struct Connection {
    source: OpenSource,
    /// Of the values of the server's secrets that it was opened with.
    pub secret_versions: Versions,
    opened: Instant,
    used_at_ms: AtomicU64,
    in_flight: AtomicUsize,
    has_answered: AtomicBool,
}

impl Connection {
    pub fn new(source: OpenSource, secret_versions: Versions) -> Self {
        Self {
            source,
            secret_versions,
            opened: Instant::now(),
            used_at_ms: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
            has_answered: AtomicBool::new(false),
        }
    }

    pub fn source(&self) -> &dyn ToolSource {
        &*self.source
    }

    /// The end of its standard error, if it is a process.
    pub fn stderr(&self) -> StderrTail {
        self.source.stderr()
    }

    /// The MCP session, if the source is one.
    pub fn mcp(&self) -> Option<&McpSession> {
        self.source.mcp()
    }

    pub fn closed(&self) -> bool {
        self.source.closed()
    }

    pub fn age(&self) -> Duration {
        self.opened.elapsed()
    }

    /// Whether it has answered a call: then a later crash does not count as a failed start.
    pub fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    pub fn mark_answered(&self) {
        self.has_answered.store(true, Ordering::Relaxed);
    }

    /// Counts a request as in flight until the returned value is dropped.
    pub fn begin(self: &Arc<Self>) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(self.clone())
    }

    pub fn busy(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) > 0
    }

    /// How long it has had no request.
    pub fn idle(&self) -> Duration {
        if self.busy() {
            return Duration::ZERO;
        }
        let used = Duration::from_millis(self.used_at_ms.load(Ordering::Relaxed));
        self.opened.elapsed().saturating_sub(used)
    }

    /// Sends a call and waits for its answer.
    pub async fn call(self: &Arc<Self>, call: ToolCall<'_>) -> Result<Value, FailedAttempt> {
        let _in_flight = self.begin();
        self.source.call(call).await
    }

    /// Pings the source and returns the round-trip time.
    pub async fn ping(&self, timeout: Duration) -> Option<Duration> {
        self.source.ping(timeout).await
    }

    /// Ends the source. Returns when its process is gone.
    pub async fn close(&self) {
        self.source.close().await;
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("closed", &self.closed())
            .finish_non_exhaustive()
    }
}

/// A request in flight. Its connection is not drained before it is dropped.
pub(crate) struct InFlight(Arc<Connection>);

impl InFlight {
    pub fn connection(&self) -> &Arc<Connection> {
        &self.0
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.used_at_ms.store(now, Ordering::Relaxed);
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
