//! Opens an MCP session with a configured endpoint.

use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService,
    Service,
};

use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::body_memory::ServerShare;
use super::http::HttpOptions;
use super::process::ServerProcess;
use super::secret_headers::SecretHeaders;
use super::sse::{SseError, SseTransport};
use super::stdio::StdioTransport;
use super::traffic::Traffic;
use super::{Login, StartError, StderrTail, TransportContext, http, without_paths};
use crate::config::{Command, Endpoint, Protocol, Remote};
use crate::secrets::{Secrets, shown_origin};
use crate::server::ServerCredentials;

/// How long to wait for the exit status of a process that closed its output.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);
const QUOTED_LINES: usize = 5;

/// An initialized session, with the process and the counters of its transport.
pub struct Link<S: Service<RoleClient>> {
    pub service: RunningService<RoleClient, S>,
    /// `None` for remote servers.
    pub process: Option<ServerProcess>,
    pub stderr: StderrTail,
    pub traffic: Arc<Traffic>,
}

/// Parameters of [`connect`] beside the endpoint.
pub struct ConnectOptions<'a> {
    pub server: &'a str,
    pub protocol: Protocol,
    pub transports: &'a TransportContext,
    pub login: Option<Login>,
    /// Receives the standard error of the server. The caller quotes it after a timeout.
    pub stderr: StderrTail,
    /// Replaced in quotations of what the server sent.
    pub secrets: &'a Secrets,
    /// Of the headers of a remote server.
    pub credentials: &'a ServerCredentials,
}

/// Connects to `endpoint`. The caller sets the timeout.
///
/// # Cancel safety
/// Dropping the future stops the process.
pub async fn connect<S: Service<RoleClient> + Clone>(
    endpoint: &Endpoint,
    handler: S,
    options: ConnectOptions<'_>,
) -> Result<Link<S>, StartError> {
    match endpoint {
        Endpoint::Stdio(command) => match options.protocol {
            Protocol::Session => {
                over_stdio(command, handler, ClientLifecycleMode::Initialize, &options).await
            }
            Protocol::Stateless => over_stdio(command, handler, stateless(), &options).await,
            Protocol::Auto => {
                // Almost every stdio server knows only `initialize`, and some answer nothing before
                // it. So that comes first, and an error restarts the server.
                let first = over_stdio(
                    command,
                    handler.clone(),
                    ClientLifecycleMode::Initialize,
                    &options,
                )
                .await;
                match first {
                    Err(StartError::Handshake { .. }) => {
                        match over_stdio(command, handler, stateless(), &options).await {
                            Ok(link) => Ok(link),
                            Err(_) => first,
                        }
                    }
                    other => other,
                }
            }
        },
        Endpoint::Http(remote) => match options.protocol {
            Protocol::Session => {
                over_http(remote, handler, ClientLifecycleMode::Initialize, &options).await
            }
            Protocol::Stateless => over_http(remote, handler, stateless(), &options).await,
            Protocol::Auto => {
                let probe = ClientLifecycleMode::Auto {
                    preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                    legacy_version: None,
                };
                match over_http(remote, handler.clone(), probe, &options).await {
                    // An old server may answer an unknown method with any error.
                    Err(StartError::Handshake { .. } | StartError::Unreachable { .. }) => {
                        over_http(remote, handler, ClientLifecycleMode::Initialize, &options).await
                    }
                    other => other,
                }
            }
        },
        Endpoint::OpenApi(_) | Endpoint::Functions(_) => Err(StartError::Handshake {
            reason: "the entry is no MCP server".to_owned(),
            stderr: Vec::new(),
        }),
        Endpoint::Sse(remote) => {
            let traffic = Arc::new(Traffic::default());
            let transport = HttpOptions {
                client: options.transports.client()?,
                login: options.login.clone(),
                secret_headers: SecretHeaders::new(remote, options.credentials.clone()),
                secrets: options.secrets.clone(),
                share: ServerShare::new(options.server),
                traffic: traffic.clone(),
            };
            let transport =
                SseTransport::open(remote, transport)
                    .await
                    .map_err(|error| match error {
                        SseError::Secret(error) => StartError::Secret(error),
                        SseError::Status(401) => StartError::LoginNeeded {
                            server: options.server.to_owned(),
                            challenge: None,
                        },
                        error => StartError::Unreachable {
                            origin: shown_origin(&remote.url),
                            reason: chain(&error),
                        },
                    })?;
            let service = handler
                .serve_with_lifecycle(transport, ClientLifecycleMode::Initialize)
                .await
                .map_err(|error| remote_error(error, remote, options.server))?;
            Ok(remote_link(service, traffic))
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
    options: &ConnectOptions<'_>,
) -> Result<Link<S>, StartError> {
    let traffic = Arc::new(Traffic::default());
    let transport = http::transport(
        remote,
        HttpOptions {
            client: options.transports.client()?,
            login: options.login.clone(),
            secret_headers: SecretHeaders::new(remote, options.credentials.clone()),
            secrets: options.secrets.clone(),
            share: ServerShare::new(options.server),
            traffic: traffic.clone(),
        },
    );
    let service = handler
        .serve_with_lifecycle(transport, lifecycle)
        .await
        .map_err(|error| remote_error(error, remote, options.server))?;
    Ok(remote_link(service, traffic))
}

fn remote_link<S: Service<RoleClient>>(
    service: RunningService<RoleClient, S>,
    traffic: Arc<Traffic>,
) -> Link<S> {
    Link {
        service,
        process: None,
        stderr: StderrTail::default(),
        traffic,
    }
}

async fn over_stdio<S: Service<RoleClient>>(
    command: &Command,
    handler: S,
    lifecycle: ClientLifecycleMode,
    options: &ConnectOptions<'_>,
) -> Result<Link<S>, StartError> {
    let (process, pipes) = ServerProcess::start(command, options.transports.guard())
        .map_err(|error| spawn_error(command, &error))?;
    let stderr = options.stderr.clone();
    tokio::spawn(stderr.clone().follow(pipes.stderr));
    let traffic = Arc::new(Traffic::new(options.secrets.clone()));
    let transport =
        StdioTransport::new(pipes.stdin, pipes.stdout, process.clone(), traffic.clone());
    // Cancelled during the handshake, the process would keep running without a client.
    let stop_on_drop = StopOnDrop(Some(process.clone()));
    match handler.serve_with_lifecycle(transport, lifecycle).await {
        Ok(service) => {
            stop_on_drop.disarm();
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
                    process.exit_within(EXIT_TIMEOUT).await
                }
                _ => None,
            };
            let last_lines = stderr.last(QUOTED_LINES);
            Err(match ended {
                Some(status) => StartError::Exited {
                    killed: matches!(status.signal(), Some(libc::SIGKILL | libc::SIGTERM)),
                    status: status.to_string(),
                    stderr: last_lines,
                },
                None => StartError::Handshake {
                    reason: chain(&error),
                    stderr: last_lines,
                },
            })
        }
    }
}

struct StopOnDrop(Option<ServerProcess>);

impl StopOnDrop {
    fn disarm(mut self) {
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
        // `source()` does not return the inner error.
        ClientInitializeError::TransportError { error, .. } => chain(&*error.error),
        other => chain(other),
    };
    match error {
        ClientInitializeError::TransportError { .. }
        | ClientInitializeError::ConnectionClosed(_) => StartError::Unreachable {
            origin: shown_origin(&remote.url),
            reason,
        },
        _ => StartError::Handshake {
            reason,
            stderr: Vec::new(),
        },
    }
}

/// The message of the innermost cause ("connection refused"); the outer ones only say where.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    loop {
        let source = match innermost.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(error)) => std::error::Error::source(error),
            _ => innermost.source(),
        };
        match source {
            Some(source) => innermost = source,
            None => return without_paths(&innermost.to_string()),
        }
    }
}
