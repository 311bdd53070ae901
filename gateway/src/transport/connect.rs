//! From a configured endpoint to an initialised MCP session.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService,
    Service,
};

use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::process::ServerProcess;
use super::sse::{SseError, SseTransport};
use super::stdio::StdioTransport;
use super::traffic::Traffic;
use super::{Facilities, Login, StartError, StderrTail, http};
use crate::config::{Command, Endpoint, Protocol, Remote};

/// How long a process that closed its output gets to end, so that its status can be told.
const EXIT_PATIENCE: Duration = Duration::from_millis(500);
const QUOTED_LINES: usize = 5;

/// An initialised session, with what there is to observe about its transport.
pub struct Link<S: Service<RoleClient>> {
    pub service: RunningService<RoleClient, S>,
    /// Only a stdio server has these.
    pub process: Option<ServerProcess>,
    pub stderr: StderrTail,
    pub traffic: Arc<Traffic>,
}

/// What every connection shares.
pub struct Means<'a> {
    pub server: &'a str,
    pub protocol: Protocol,
    pub facilities: &'a Facilities,
    pub login: Option<Login>,
    /// Where the standard error of the server goes; the caller quotes it when it gives up waiting.
    pub stderr: StderrTail,
}

/// Connects to `endpoint`. The caller bounds the time; dropping the future ends the process.
pub async fn connect<S: Service<RoleClient> + Clone>(
    endpoint: &Endpoint,
    handler: S,
    means: Means<'_>,
) -> Result<Link<S>, StartError> {
    match endpoint {
        Endpoint::Stdio(command) => match means.protocol {
            Protocol::Session => {
                over_stdio(command, handler, ClientLifecycleMode::Initialize, &means).await
            }
            Protocol::Stateless => over_stdio(command, handler, stateless(), &means).await,
            Protocol::Auto => {
                // Almost every stdio server knows only `initialize`, and some do not answer
                // anything before it. So that comes first, and a refusal starts the server anew.
                let first = over_stdio(
                    command,
                    handler.clone(),
                    ClientLifecycleMode::Initialize,
                    &means,
                )
                .await;
                match first {
                    Err(StartError::Handshake { .. }) => {
                        match over_stdio(command, handler, stateless(), &means).await {
                            Ok(link) => Ok(link),
                            Err(_) => first,
                        }
                    }
                    other => other,
                }
            }
        },
        Endpoint::Http(remote) => match means.protocol {
            Protocol::Session => {
                over_http(remote, handler, ClientLifecycleMode::Initialize, &means).await
            }
            Protocol::Stateless => over_http(remote, handler, stateless(), &means).await,
            Protocol::Auto => {
                let probe = ClientLifecycleMode::Auto {
                    preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                    legacy_version: None,
                };
                match over_http(remote, handler.clone(), probe, &means).await {
                    // An old server may answer a method it does not know with anything at all.
                    Err(StartError::Handshake { .. } | StartError::Unreachable { .. }) => {
                        over_http(remote, handler, ClientLifecycleMode::Initialize, &means).await
                    }
                    other => other,
                }
            }
        },
        Endpoint::Sse(remote) => {
            let transport =
                SseTransport::open(means.facilities.client()?, remote, means.login.clone())
                    .await
                    .map_err(|error| match error {
                        SseError::Status(401) => StartError::LoginNeeded {
                            server: means.server.to_owned(),
                            challenge: None,
                        },
                        error => StartError::Unreachable {
                            url: remote.url.to_string(),
                            reason: chain(&error),
                        },
                    })?;
            let service = handler
                .serve_with_lifecycle(transport, ClientLifecycleMode::Initialize)
                .await
                .map_err(|error| remote_error(error, remote, means.server))?;
            Ok(remote_link(service))
        }
    }
}

fn stateless() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

async fn over_http<S: Service<RoleClient>>(
    remote: &Remote,
    handler: S,
    lifecycle: ClientLifecycleMode,
    means: &Means<'_>,
) -> Result<Link<S>, StartError> {
    let transport = http::transport(means.facilities.client()?, remote, means.login.clone());
    let service = handler
        .serve_with_lifecycle(transport, lifecycle)
        .await
        .map_err(|error| remote_error(error, remote, means.server))?;
    Ok(remote_link(service))
}

fn remote_link<S: Service<RoleClient>>(service: RunningService<RoleClient, S>) -> Link<S> {
    Link {
        service,
        process: None,
        stderr: StderrTail::default(),
        traffic: Arc::default(),
    }
}

async fn over_stdio<S: Service<RoleClient>>(
    command: &Command,
    handler: S,
    lifecycle: ClientLifecycleMode,
    means: &Means<'_>,
) -> Result<Link<S>, StartError> {
    let (process, pipes) = ServerProcess::start(command, means.facilities.guard())
        .map_err(|error| spawn_error(command, &error))?;
    let stderr = means.stderr.clone();
    tokio::spawn(stderr.clone().follow(pipes.stderr));
    let traffic = Arc::<Traffic>::default();
    let transport =
        StdioTransport::new(pipes.stdin, pipes.stdout, process.clone(), traffic.clone());
    // Given up in the middle of the handshake, the process would go on without anyone to talk to.
    let abandoned = StopOnDrop(Some(process.clone()));
    match handler.serve_with_lifecycle(transport, lifecycle).await {
        Ok(service) => {
            abandoned.defuse();
            Ok(Link {
                service,
                process: Some(process),
                stderr,
                traffic,
            })
        }
        Err(error) => {
            let ended = match &error {
                ClientInitializeError::ConnectionClosed(_)
                | ClientInitializeError::TransportError { .. } => {
                    process.exit_within(EXIT_PATIENCE).await
                }
                _ => None,
            };
            let last_words = stderr.last(QUOTED_LINES);
            Err(match ended {
                Some(status) => StartError::Exited {
                    status: status.to_string(),
                    stderr: last_words,
                },
                None => StartError::Handshake {
                    reason: chain(&error),
                    stderr: last_words,
                },
            })
        }
    }
}

struct StopOnDrop(Option<ServerProcess>);

impl StopOnDrop {
    fn defuse(mut self) {
        self.0.take();
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let Some(process) = self.0.take() {
            process.request_stop();
        }
    }
}

fn spawn_error(command: &Command, error: &std::io::Error) -> StartError {
    let program = command.program.clone();
    match (&command.cwd, error.kind()) {
        (Some(cwd), _) if !cwd.is_dir() => StartError::FolderNotFound {
            cwd: cwd.display().to_string(),
        },
        (_, std::io::ErrorKind::NotFound) => StartError::ProgramNotFound { program },
        _ => StartError::Spawn {
            program,
            reason: error.to_string(),
        },
    }
}

fn remote_error(error: ClientInitializeError, remote: &Remote, server: &str) -> StartError {
    let challenge = error.auth_challenge().map(str::to_owned);
    if challenge.is_some() || error.is_authorization_required() {
        return StartError::LoginNeeded {
            server: server.to_owned(),
            challenge,
        };
    }
    let reason = match &error {
        // What it holds is no source of it.
        ClientInitializeError::TransportError { error, .. } => chain(&*error.error),
        other => chain(other),
    };
    match error {
        ClientInitializeError::TransportError { .. }
        | ClientInitializeError::ConnectionClosed(_) => StartError::Unreachable {
            url: remote.url.to_string(),
            reason,
        },
        _ => StartError::Handshake {
            reason,
            stderr: Vec::new(),
        },
    }
}

/// The innermost cause says what happened ("connection refused"); the outer ones only where.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    loop {
        let source = match innermost.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(error)) => std::error::Error::source(error),
            _ => innermost.source(),
        };
        match source {
            Some(source) => innermost = source,
            None => return innermost.to_string(),
        }
    }
}
