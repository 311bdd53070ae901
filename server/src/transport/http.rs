//! Serves many clients over streamable HTTP, with sessions (MCP 2025-11-25) and without (2026-07-28).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::routing::any;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::http_gate::{self, HttpGate};
use super::jsonrpc::MAX_MESSAGE_BYTES;
use crate::error::ServeError;
use crate::handler::Handler;
use crate::state::ServerState;

const PATH: &str = "/mcp";
/// The shortest token, in bytes.
const MIN_TOKEN: usize = 16;
/// A session without a request for this long is closed.
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How long the responses of the last calls have to be written.
const RESPONSE_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// How long open event streams have to end, after the calls have.
const STREAM_CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The settings of an HTTP server.
pub struct HttpOptions {
    /// The address to listen on.
    pub address: SocketAddr,
    /// The bearer token of clients. Required unless the address is a loopback address.
    pub token: Option<String>,
    /// Host names that clients may use for this server, besides its address.
    pub hosts: Vec<String>,
    /// Origins of web pages that may use this server, besides those of this machine.
    pub origins: Vec<String>,
}

impl HttpOptions {
    fn check(&self) -> Result<(), ServeError> {
        match &self.token {
            Some(token) if token.len() < MIN_TOKEN => {
                return Err(ServeError::TokenTooShort(token.len()));
            }
            None if !self.address.ip().is_loopback() => {
                return Err(ServeError::TokenNeeded(self.address));
            }
            _ => {}
        }
        if self.address.ip().is_unspecified() && self.hosts.is_empty() {
            return Err(ServeError::HostsNeeded(self.address));
        }
        Ok(())
    }

    fn allowed_hosts(&self) -> Vec<String> {
        let local = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let own = self.address.ip().to_string();
        local
            .into_iter()
            .chain([own])
            .chain(self.hosts.iter().cloned())
            .collect()
    }

    fn allowed_origins(&self) -> Vec<String> {
        let local = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
        local
            .map(str::to_owned)
            .into_iter()
            .chain(self.origins.iter().cloned())
            .collect()
    }
}

/// Serves until [`ServerState::close`] was called and the calls in flight have ended. `listening` is
/// called with the bound address before the first request is accepted.
///
/// # Errors
///
/// Options that are not safe ([`ServeError::TokenNeeded`], [`ServeError::TokenTooShort`],
/// [`ServeError::HostsNeeded`]), an address that cannot be bound, or a server that broke down.
pub async fn serve_http(
    state: ServerState,
    options: HttpOptions,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    options.check()?;
    let address = options.address;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| ServeError::Listen { address, source })?;
    let streams = CancellationToken::new();
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_IDLE_TIMEOUT);
    let sessions = Arc::new(sessions);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(options.allowed_hosts())
        .with_allowed_origins(options.allowed_origins())
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
    let origins = options.allowed_origins();
    let gate = Arc::new(HttpGate {
        token: options.token,
        origins,
        last_seen: Mutex::default(),
        open_requests: Arc::default(),
        service,
        sessions,
    });
    let router = Router::new()
        .route(PATH, any(http_gate::handle))
        .with_state(gate);
    listening(listener.local_addr()?);

    let closing = state.closing().clone();
    let serving = axum::serve(listener, router)
        .with_graceful_shutdown(async move { closing.cancelled().await });
    let mut serving = tokio::spawn(serving.into_future());
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

fn finished(served: Result<std::io::Result<()>, tokio::task::JoinError>) -> Result<(), ServeError> {
    match served {
        Ok(served) => Ok(served?),
        Err(error) => Err(ServeError::Connection(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(address: &str, token: Option<&str>, hosts: &[&str]) -> HttpOptions {
        HttpOptions {
            address: address.parse().unwrap(),
            token: token.map(str::to_owned),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            origins: Vec::new(),
        }
    }

    #[test]
    fn a_token_is_needed_unless_only_this_machine_can_connect() {
        assert!(options("127.0.0.1:0", None, &[]).check().is_ok());
        assert!(options("[::1]:0", None, &[]).check().is_ok());
        let error = options("192.0.2.1:80", None, &[]).check().unwrap_err();
        assert!(error.to_string().contains("PML_TOKEN"), "{error}");
        assert!(
            options("192.0.2.1:80", Some("0123456789abcdef"), &[])
                .check()
                .is_ok()
        );
        assert!(options("127.0.0.1:0", Some("short"), &[]).check().is_err());
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
