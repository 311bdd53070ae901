//! A session with an MCP server.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::{ClientRequest, PingRequest, ServerPeerInfo, SubscriptionFilter};
use rmcp::service::{Peer, RoleClient, RunningService, ServiceError, Subscription};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::tool_source::{Opening, SourceInfo, ToolSource};
use crate::call::{FailedAttempt, ToolCall, dispatch};
use crate::config::Endpoint;
use crate::server::{Handler, list_tools};
use crate::transport::{ConnectOptions, ServerProcess, StartError, StderrTail, Traffic, connect};

const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
const QUOTED_LINES: usize = 5;

/// A session, its transport and its process.
pub(crate) struct McpSession {
    pub peer: Peer<RoleClient>,
    pub handler: Handler,
    pub info: Arc<ServerPeerInfo>,
    pub stderr: StderrTail,
    pub traffic: Arc<Traffic>,
    process: Option<ServerProcess>,
    service: Mutex<Option<RunningService<RoleClient, Handler>>>,
}

impl McpSession {
    /// Connects and shakes hands.
    ///
    /// # Errors
    /// The server cannot be started or reached, or does not speak MCP.
    pub async fn open(endpoint: &Endpoint, opening: Opening<'_>) -> Result<Self, StartError> {
        let Opening {
            config,
            context,
            login,
            credentials,
            changed,
            stderr,
        } = opening;
        let handler = Handler::new(&config.roots, changed, context.secrets.clone());
        let options = ConnectOptions {
            server: &config.name,
            protocol: config.protocol,
            transports: &context.transports,
            login,
            stderr: stderr.clone(),
            secrets: &context.secrets,
            credentials,
        };
        let link = connect(endpoint, handler.clone(), options).await?;
        let peer = link.service.peer().clone();
        let Some(info) = peer.peer_info() else {
            return Err(StartError::Handshake {
                reason: "it ended right after the handshake".to_owned(),
                stderr: stderr.last(QUOTED_LINES),
            });
        };
        Ok(Self {
            info,
            peer,
            handler,
            stderr: link.stderr,
            traffic: link.traffic,
            process: link.process,
            service: Mutex::new(Some(link.service)),
        })
    }

    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.id)
    }

    /// The exit status of the process, if there is one and it has ended: for error messages.
    pub async fn exit_status(&self) -> Option<String> {
        let process = self.process.as_ref()?;
        let status = process.exit_within(Duration::from_millis(300)).await?;
        Some(status.to_string())
    }

    /// The announcements of changed tools, if the server makes them to subscribers alone: without a
    /// session, changes are only sent to those.
    pub async fn tool_changes(&self) -> Option<Subscription> {
        let tools = self.info.capabilities.tools.as_ref();
        let announces = tools.is_some_and(|tools| tools.list_changed == Some(true));
        if self.info.protocol_version.has_initialize() || !announces {
            return None;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        self.peer.listen(filter).await.ok()
    }
}

#[async_trait]
impl ToolSource for McpSession {
    fn info(&self) -> SourceInfo {
        let server = self.info.server_info.as_ref();
        SourceInfo {
            protocol: self.info.protocol_version.to_string(),
            implementation: server.map(|info| format!("{} {}", info.name, info.version)),
            title: server.and_then(|info| info.title.clone()),
            instructions: self.info.instructions.clone(),
        }
    }

    async fn list(&self) -> Result<Vec<Value>, String> {
        if self.info.capabilities.tools.is_none() {
            return Ok(Vec::new());
        }
        list_tools(&self.peer)
            .await
            .map_err(|error| error.to_string())
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<Value, FailedAttempt> {
        dispatch(self, call).await
    }

    /// An error response counts: a server that does not know `ping` is alive.
    async fn ping(&self, timeout: Duration) -> Option<Duration> {
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

    fn closed(&self) -> bool {
        self.traffic.ended() || self.peer.is_transport_closed()
    }

    async fn close(&self) {
        let service = self.service.lock().await.take();
        if let Some(mut service) = service {
            let _ = service.close_with_timeout(CLOSE_TIMEOUT).await;
        }
        if let Some(process) = &self.process {
            process.stop().await;
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.traffic.skipped_lines() > 0 {
            remarks.push(format!(
                "printed {} lines on standard output that are not JSON-RPC, the last: {}",
                self.traffic.skipped_lines(),
                self.traffic.last_skipped()
            ));
        }
        if self.traffic.strays() > 0 {
            remarks.push(format!(
                "sent {} responses with an unknown id",
                self.traffic.strays()
            ));
        }
        remarks
    }
}
