//! Serves many clients over streamable HTTP, with sessions (MCP 2025-11-25) and without (2026-07-28).

use std::convert::Infallible;
use std::io;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::approval_replies;
use super::authentication::Authentication;
use super::connections::{Connection, ConnectionLimits, Connections, descriptor_limit};
use super::http_gate::{self, HttpGate};
use super::jsonrpc::MAX_MESSAGE_BYTES;
use super::listen::{ListenAddress, Listener, Stream};
use super::status_pages::StatusPages;
use crate::error::ServeError;
use crate::handler::Handler;
use crate::state::ServerState;

const PATH: &str = "/mcp";
/// A session without a request for this long is closed.
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How long a new connection has for its first authenticated request, headers included.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection may be idle between two requests, the headers of the second included.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// The most that a connection buffers before its headers are complete.
const MAX_BUFFER: usize = 64 * 1024;
/// How long to wait after an error of `accept` that will not pass by itself.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
/// How long the responses of the last calls have to be written.
const RESPONSE_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// How long open event streams have to end, after the calls have.
const STREAM_CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The settings of an HTTP server.
pub struct HttpOptions {
    /// The address to listen on.
    pub address: ListenAddress,
    /// The tokens of clients. Plain ones are needed unless only this machine can connect.
    pub authentication: Authentication,
    /// Host names that clients may use for this server, besides its address.
    pub hosts: Vec<String>,
    /// Origins of the web pages that may use this server. A request of any other page is refused.
    pub origins: Vec<String>,
}

impl HttpOptions {
    fn check(&self) -> Result<(), ServeError> {
        let ListenAddress::Tcp(address) = self.address else {
            return Ok(());
        };
        if self.authentication.plain.is_empty() && !address.ip().is_loopback() {
            return Err(ServeError::TokenNeeded(address));
        }
        if address.ip().is_unspecified() && self.hosts.is_empty() {
            return Err(ServeError::HostsNeeded(address));
        }
        Ok(())
    }

    fn allowed_hosts(&self) -> Vec<String> {
        let local = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let own = match &self.address {
            ListenAddress::Tcp(address) => Some(address.ip().to_string()),
            ListenAddress::Unix(_) => None,
        };
        local
            .into_iter()
            .chain(own)
            .chain(self.hosts.iter().cloned())
            .collect()
    }
}

/// Serves until [`ServerState::close`] was called and the calls in flight have ended. `listening` is
/// called with the bound address before the first request is accepted.
///
/// # Errors
///
/// Options that are not safe ([`ServeError::TokenNeeded`], [`ServeError::HostsNeeded`]), an address
/// that cannot be bound, or a server that broke down.
pub async fn serve_http(
    state: ServerState,
    options: HttpOptions,
    listening: impl FnOnce(&ListenAddress),
) -> Result<(), ServeError> {
    options.check()?;
    let listener = Listener::bind(&options.address)
        .await
        .map_err(|source| ServeError::Listen {
            address: options.address.clone(),
            source,
        })?;
    let streams = CancellationToken::new();
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_IDLE_TIMEOUT);
    let sessions = Arc::new(sessions);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(options.allowed_hosts())
        .with_allowed_origins(options.origins.clone())
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_MESSAGE_BYTES)
        .with_json_response(true)
        .with_cancellation_token(streams.clone());
    let handlers = state.clone();
    let service = StreamableHttpService::new(
        move || Ok(Handler::new(handlers.clone())),
        sessions.clone(),
        config,
    );
    let gate = Arc::new(HttpGate {
        authentication: options.authentication,
        approvals: state.durable_runs().map(|runs| runs.approvals().clone()),
        status: StatusPages::new(state.clone()),
        audit: state.audit().cloned(),
        origins: options.origins,
        session_uses: Mutex::default(),
        has_tasks: state.durable_runs().is_some(),
        open_requests: Arc::default(),
        service,
        sessions,
    });
    listening(&listener.address()?);

    let closing = state.closing().clone();
    let mut serving = tokio::spawn(accept(listener, gate, closing));
    tokio::select! {
        served = &mut serving => return finished(served),
        () = state.closing().cancelled() => {}
    }
    state.drained().await;
    // The calls have ended; their responses may not be written yet.
    if let Ok(served) = tokio::time::timeout(RESPONSE_FLUSH_TIMEOUT, &mut serving).await {
        return finished(served);
    }
    // Only event streams are still open, and no event will come.
    streams.cancel();
    match tokio::time::timeout(STREAM_CLOSE_TIMEOUT, &mut serving).await {
        Ok(served) => finished(served),
        Err(_) => {
            serving.abort();
            Ok(())
        }
    }
}

fn finished(served: Result<(), tokio::task::JoinError>) -> Result<(), ServeError> {
    served.map_err(|error| ServeError::Connection(error.to_string()))
}

/// Accepts connections until `closing`, then waits for the open ones. Dropping the future closes
/// them all.
async fn accept(listener: Listener, gate: Arc<HttpGate>, closing: CancellationToken) {
    let connections = Connections::new(ConnectionLimits::for_descriptors(descriptor_limit()));
    let mut tasks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = tasks.join_next(), if !tasks.is_empty() => continue,
            () = closing.cancelled() => break,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if is_of_one_connection(&error) => continue,
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted");
                connections.evict_unauthenticated();
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            }
        };
        let connection = loop {
            match connections.open(address) {
                Ok(connection) => break Arc::new(connection),
                Err(time) => tokio::time::sleep(time).await,
            }
        };
        let (gate, closing) = (gate.clone(), closing.clone());
        tasks.spawn(serve_connection(stream, connection, gate, closing));
    }
    drop(listener);
    while tasks.join_next().await.is_some() {}
}

/// Whether an error of `accept` is about the connection that was to be accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// Serves one connection until it ends, has to make room for another one, or has sent no
/// authenticated request in time.
async fn serve_connection(
    stream: Stream,
    connection: Arc<Connection>,
    gate: Arc<HttpGate>,
    closing: CancellationToken,
) {
    let slot = connection.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (gate, slot) = (gate.clone(), slot.clone());
        async move { Ok::<_, Infallible>(respond(gate, slot, request).await) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_TIMEOUT)
        .max_buf_size(MAX_BUFFER);
    let mut serving = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut first_request = pin!(tokio::time::sleep(FIRST_REQUEST_TIMEOUT));
    let (mut has_waited, mut is_closing) = (false, false);
    loop {
        tokio::select! {
            _ended = &mut serving => return,
            () = connection.evicted() => return,
            () = &mut first_request, if !has_waited => {
                if !connection.is_authenticated() {
                    return;
                }
                has_waited = true;
            }
            () = closing.cancelled(), if !is_closing => {
                if !connection.is_authenticated() {
                    return;
                }
                is_closing = true;
                serving.as_mut().graceful_shutdown();
            }
        }
    }
}

/// The response to one request. A panic costs this request only.
async fn respond(
    gate: Arc<HttpGate>,
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Response {
    let request = request.map(Body::new);
    let handled = async {
        let path = request.uri().path();
        if StatusPages::is_probe(path) {
            let page = gate.status.page(path, request.method()).await;
            return page.unwrap_or_else(|| StatusCode::NOT_FOUND.into_response());
        }
        match (path, &gate.approvals) {
            (path, _) if path == PATH || StatusPages::is_metrics(path) => {
                http_gate::handle(&gate, &connection, request).await
            }
            (path, Some(approvals)) if path.starts_with(approval_replies::PATH) => {
                approval_replies::handle(approvals, gate.audit.as_ref(), request).await
            }
            _ => (StatusCode::NOT_FOUND, "MCP is served at /mcp").into_response(),
        }
    };
    match AssertUnwindSafe(handled).catch_unwind().await {
        Ok(response) => response,
        Err(_panic) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tokens::BearerTokens;

    fn options(address: &str, token: Option<&str>, hosts: &[&str]) -> HttpOptions {
        HttpOptions {
            address: address.parse().unwrap(),
            authentication: Authentication {
                plain: token.map_or_else(BearerTokens::none, |token| {
                    BearerTokens::parse(token).unwrap()
                }),
                capabilities: None,
            },
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            origins: Vec::new(),
        }
    }

    #[test]
    fn a_token_is_needed_unless_only_this_machine_can_connect() {
        for local in ["127.0.0.1:0", "[::1]:0", "unix:/tmp/pml.sock"] {
            assert!(options(local, None, &[]).check().is_ok(), "{local}");
        }
        let error = options("192.0.2.1:80", None, &[]).check().unwrap_err();
        assert!(error.to_string().contains("PML_TOKEN"), "{error}");
        assert!(
            options("192.0.2.1:80", Some("0123456789abcdef"), &[])
                .check()
                .is_ok()
        );
    }

    #[test]
    fn every_address_needs_the_names_that_clients_use() {
        let token = Some("0123456789abcdef");
        assert!(options("0.0.0.0:80", token, &[]).check().is_err());
        assert!(
            options("0.0.0.0:80", token, &["tools.example.com"])
                .check()
                .is_ok()
        );
    }
}
