//! The state of every server, with the reason when it is not usable and what to do about it.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::Gateway;
use crate::config::Endpoint;
use crate::policy::breaker::BreakerState;
use crate::server::Server;
use crate::transport::{StartError, quoted};

const PING_PATIENCE: Duration = Duration::from_secs(5);
const QUOTED_LINES: usize = 5;

/// What `pml doctor` tells about one server.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerReport {
    pub server: String,
    pub transport: &'static str,
    pub state: ServerState,
    /// The protocol revision agreed on.
    pub protocol: Option<String>,
    /// The server's own name and version.
    pub implementation: Option<String>,
    pub tools: Option<usize>,
    pub start_ms: Option<f64>,
    pub ping_ms: Option<f64>,
    /// Why it is not usable and what to do, in one sentence.
    pub problem: Option<String>,
    /// What is odd about it though it works.
    pub remarks: Vec<String>,
    pub breaker: BreakerState,
    pub starts: u64,
    pub stderr: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerState {
    Ready,
    Disabled,
    Failed,
}

impl Gateway {
    /// Starts what is not started, pings what is, and waits no longer than `patience` for any
    /// server. In the order of their names.
    pub async fn doctor(&self, patience: Duration) -> Vec<ServerReport> {
        let servers = self.inner().servers.values();
        futures::future::join_all(servers.map(|server| self.examine(server, patience))).await
    }

    async fn examine(&self, server: &Arc<Server>, patience: Duration) -> ServerReport {
        let name = &server.config.name;
        let mut report = ServerReport {
            server: name.clone(),
            transport: match &server.config.usable {
                Ok(Endpoint::Stdio(_)) => "stdio",
                Ok(Endpoint::Http(_)) => "http",
                Ok(Endpoint::Sse(_)) => "sse",
                Err(_) => "unknown",
            },
            state: ServerState::Failed,
            protocol: None,
            implementation: None,
            tools: None,
            start_ms: None,
            ping_ms: None,
            problem: None,
            remarks: Vec::new(),
            breaker: self.inner().policy().breakers.state(name),
            starts: 0,
            stderr: Vec::new(),
        };
        match tokio::time::timeout(patience, server.connection()).await {
            Ok(Ok(connection)) => {
                report.state = ServerState::Ready;
                report.protocol = Some(connection.info.protocol_version.to_string());
                report.implementation = connection
                    .info
                    .server_info
                    .as_ref()
                    .map(|info| format!("{} {}", info.name, info.version));
                report.tools = server.known_tools().map(|tools| tools.len());
                report.stderr = connection.stderr.last(QUOTED_LINES);
                match connection.ping(PING_PATIENCE).await {
                    Some(took) => report.ping_ms = Some(millis(took)),
                    None => {
                        report.state = ServerState::Failed;
                        report.problem =
                            Some("it started, and does not answer a ping: restart it".to_owned());
                    }
                }
                let traffic = &connection.traffic;
                if traffic.skipped_lines() > 0 {
                    report.remarks.push(format!(
                        "printed {} lines on standard output that are no JSON-RPC, the last: {}",
                        traffic.skipped_lines(),
                        traffic.last_skipped()
                    ));
                }
                if traffic.strays() > 0 {
                    report.remarks.push(format!(
                        "sent {} answers to nothing that was asked",
                        traffic.strays()
                    ));
                }
            }
            Ok(Err(unavailable)) => {
                if matches!(unavailable.error, StartError::Disabled) {
                    report.state = ServerState::Disabled;
                }
                report.problem = Some(unavailable.error.to_string());
            }
            Err(_) => {
                let record = server.record();
                report.stderr = record.stderr.last(QUOTED_LINES);
                // A start that failed before says more than one that has not failed yet.
                report.problem = Some(match &record.last_error {
                    Some(error) => error.to_string(),
                    None => format!(
                        "it has not finished starting after {:.1} s: run its command by hand to see what it waits for{}",
                        patience.as_secs_f64(),
                        quoted(&report.stderr)
                    ),
                });
            }
        }
        let record = server.record();
        report.starts = record.starts;
        report.start_ms = record.last_start_took.map(millis);
        if let Some((reason, _)) = &record.last_loss {
            report.remarks.push(format!("was lost before: {reason}"));
        }
        if !server.config.ignored_keys.is_empty() {
            report.remarks.push(format!(
                "keys without a meaning here: {}",
                server.config.ignored_keys.join(", ")
            ));
        }
        report
    }
}

fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10_000.0).round() / 10.0
}
