//! The status of every server, with the reason and the remedy if it is not usable.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::Gateway;
use crate::config::Endpoint;
use crate::policy::breaker::BreakerState;
use crate::registry::ToolSet;
use crate::secrets::Secrets;
use crate::server::Server;
use crate::transport::{StartError, quoted};

const PING_TIMEOUT: Duration = Duration::from_secs(5);
const QUOTED_LINES: usize = 5;
/// Remarks about the tools of one server.
const MAX_TOOL_REMARKS: usize = 20;

/// The report of `pml doctor` about one server.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerReport {
    /// Its name in the configuration.
    pub server: String,
    /// `stdio`, `http`, `sse`, `openapi` or `unknown`.
    pub transport: &'static str,
    /// The `url` or `openapi` of the configuration as it was written, with its variables.
    pub address: Option<String>,
    /// Whether it is usable.
    pub state: ServerStatus,
    /// The negotiated protocol revision.
    pub protocol: Option<String>,
    /// The server's own name and version.
    pub implementation: Option<String>,
    /// The number of its tools.
    pub tools: Option<usize>,
    /// How long its last start took.
    pub start_ms: Option<f64>,
    /// The round-trip time of a ping.
    pub ping_ms: Option<f64>,
    /// Why it is not usable and what to do, in one sentence.
    pub problem: Option<String>,
    /// Irregularities that do not keep it from working.
    pub remarks: Vec<String>,
    /// The state of its circuit breaker.
    pub breaker: BreakerState,
    /// How often it was started.
    pub starts: u64,
    /// Its last lines on standard error.
    pub stderr: Vec<String>,
}

/// Whether a server is usable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerStatus {
    /// It runs and answers.
    Ready,
    /// The configuration disables it.
    Disabled,
    /// It cannot be started or reached.
    Failed,
}

impl ServerReport {
    /// Replaces the secrets in everything that came from the server or the configuration.
    fn hide(&mut self, secrets: &Secrets) {
        let texts = [
            &mut self.address,
            &mut self.protocol,
            &mut self.implementation,
            &mut self.problem,
        ];
        let texts = texts.into_iter().flatten();
        for text in texts.chain(&mut self.remarks).chain(&mut self.stderr) {
            secrets.hide_for_people_in(text);
        }
    }
}

impl Gateway {
    /// Starts and pings every server, and waits at most `timeout` for each. The reports are in the
    /// order of the servers' names.
    pub async fn doctor(&self, timeout: Duration) -> Vec<ServerReport> {
        let servers = self.inner().servers.values();
        futures::future::join_all(servers.map(|server| self.examine(server, timeout))).await
    }

    async fn examine(&self, server: &Arc<Server>, timeout: Duration) -> ServerReport {
        let name = &server.config.name;
        let mut report = ServerReport {
            server: name.clone(),
            transport: match &server.config.endpoint {
                Ok(Endpoint::Stdio(_)) => "stdio",
                Ok(Endpoint::Http(_)) => "http",
                Ok(Endpoint::Sse(_)) => "sse",
                Ok(Endpoint::OpenApi(_)) => "openapi",
                Ok(Endpoint::Functions(_)) => "functions",
                Err(_) => "unknown",
            },
            address: server.config.address.clone(),
            state: ServerStatus::Failed,
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
        match tokio::time::timeout(timeout, server.connection()).await {
            Ok(Ok(connection)) => {
                report.state = ServerStatus::Ready;
                let info = connection.source().info();
                report.protocol = Some(info.protocol);
                report.implementation = info.implementation;
                report.tools = server.known_tools().map(|tools| tools.len());
                report.stderr = connection.stderr().last(QUOTED_LINES);
                match connection.ping(PING_TIMEOUT).await {
                    // A service without a ping has no time.
                    Some(Duration::ZERO) => {}
                    Some(took) => report.ping_ms = Some(millis(took)),
                    None => {
                        report.state = ServerStatus::Failed;
                        report.problem =
                            Some("it started but does not answer a ping: restart it".to_owned());
                    }
                }
                if let Some(tools) = server.known_tools() {
                    report.remarks.extend(tool_remarks(tools).await);
                }
                report.remarks.extend(connection.source().remarks());
            }
            Ok(Err(unavailable)) => {
                if matches!(unavailable.error, StartError::Disabled) {
                    report.state = ServerStatus::Disabled;
                }
                report.problem = Some(unavailable.error.to_string());
            }
            Err(_) => {
                let history = server.history();
                report.stderr = history.stderr.last(QUOTED_LINES);
                // The error of an earlier start says more than a start that is still running.
                report.problem = Some(match &history.last_error {
                    Some(error) => error.to_string(),
                    None => format!(
                        "it has not finished starting after {:.1} s: run its command by hand to see what it waits for{}",
                        timeout.as_secs_f64(),
                        quoted(&report.stderr)
                    ),
                });
            }
        }
        let history = server.history();
        report.starts = history.starts;
        report.start_ms = history.last_start_took.map(millis);
        if let Some((reason, _)) = &history.last_loss {
            report
                .remarks
                .push(format!("its connection was lost before: {reason}"));
        }
        if !server.config.ignored_keys.is_empty() {
            report.remarks.push(format!(
                "ignored keys: {}",
                server.config.ignored_keys.join(", ")
            ));
        }
        report.hide(self.inner().secrets());
        report
    }
}

fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10_000.0).round() / 10.0
}

/// Tools that cannot be used, or whose arguments are not checked in full.
async fn tool_remarks(tools: Arc<ToolSet>) -> Vec<String> {
    // Every input schema is compiled.
    let examined = tokio::task::spawn_blocking(move || {
        let mut remarks: Vec<String> = tools
            .refused()
            .map(|refused| {
                format!(
                    "the tool {} cannot be used: {}",
                    refused.tool, refused.reason
                )
            })
            .collect();
        for tool in tools.iter() {
            let notices = tool.notices().into_iter();
            remarks.extend(notices.map(|notice| format!("the tool {}: {notice}", tool.id)));
        }
        let more = remarks.len().saturating_sub(MAX_TOOL_REMARKS);
        if more > 0 {
            remarks.truncate(MAX_TOOL_REMARKS);
            remarks.push(format!("and {more} more remarks about tools"));
        }
        remarks
    });
    examined.await.unwrap_or_default()
}
