//! An open session with a server, shared by all runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{ClientRequest, PingRequest, ServerPeerInfo};
use rmcp::service::{Peer, RoleClient, RunningService, ServiceError};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::credentials::Versions;
use super::handler::Handler;
use crate::transport::{Link, ServerProcess, StderrTail, Traffic};

const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// One session, its transport and its process.
pub(crate) struct Connection {
    pub peer: Peer<RoleClient>,
    pub handler: Handler,
    pub info: Arc<ServerPeerInfo>,
    pub stderr: StderrTail,
    pub traffic: Arc<Traffic>,
    /// Of the values of the server's secrets that its process has.
    pub secret_versions: Versions,
    process: Option<ServerProcess>,
    service: Mutex<Option<RunningService<RoleClient, Handler>>>,
    opened: Instant,
    used_at_ms: AtomicU64,
    in_flight: AtomicUsize,
    has_answered: AtomicBool,
}

impl Connection {
    /// `None` if the session ended before its handshake was recorded.
    pub fn new(link: Link<Handler>, handler: Handler, secret_versions: Versions) -> Option<Self> {
        let peer = link.service.peer().clone();
        Some(Self {
            info: peer.peer_info()?,
            peer,
            handler,
            stderr: link.stderr,
            traffic: link.traffic,
            secret_versions,
            process: link.process,
            service: Mutex::new(Some(link.service)),
            opened: Instant::now(),
            used_at_ms: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
            has_answered: AtomicBool::new(false),
        })
    }

    pub fn closed(&self) -> bool {
        self.traffic.ended() || self.peer.is_transport_closed()
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

    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.id)
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

    /// Pings the server and returns the round-trip time. An error response counts: a server that
    /// does not know `ping` is alive.
    pub async fn ping(&self, timeout: Duration) -> Option<Duration> {
        let start = Instant::now();
        if !self.info.protocol_version.has_initialize() {
            // The stateless protocol has no ping; its transport reports each failure.
            return (!self.closed()).then(|| start.elapsed());
        }
        let ping = self
            .peer
            .send_request(ClientRequest::PingRequest(PingRequest::default()));
        match tokio::time::timeout(timeout, ping).await {
            Ok(Ok(_) | Err(ServiceError::McpError(_))) => Some(start.elapsed()),
            _ => None,
        }
    }

    /// The exit status of the process, if there is one and it has ended: for error messages.
    pub async fn exit_status(&self) -> Option<String> {
        let process = self.process.as_ref()?;
        let status = process.exit_within(Duration::from_millis(300)).await?;
        Some(status.to_string())
    }

    /// Ends the session and, on stdio, the process. Returns when the process is gone.
    pub async fn close(&self) {
        let service = self.service.lock().await.take();
        if let Some(mut service) = service {
            let _ = service.close_with_timeout(CLOSE_TIMEOUT).await;
        }
        if let Some(process) = &self.process {
            process.stop().await;
        }
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
