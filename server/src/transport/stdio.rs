//! Serves one client over stdio.

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use tokio_util::sync::CancellationToken;

use super::stdio_transport::{DrainOptions, StdioTransport};
use crate::error::ServeError;
use crate::handler::Handler;
use crate::state::ServerState;

/// Serves until the client closes its end of stdio, or [`ServerState::close`] was called and the calls
/// in flight have ended.
///
/// # Errors
///
/// [`ServeError::Connection`] if the connection broke or its first messages were not valid MCP.
pub async fn serve_stdio(state: ServerState) -> Result<(), ServeError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    let shutdown = CancellationToken::new();
    let closing = tokio::spawn({
        let (state, shutdown) = (state.clone(), shutdown.clone());
        async move {
            state.closing().cancelled().await;
            state.drained().await;
            shutdown.cancel();
        }
    });
    let input_ended = CancellationToken::new();
    let drain = DrainOptions {
        input_ended: input_ended.clone(),
        time: state.drain_time(),
        shutdown: shutdown.clone(),
    };
    let has_tasks = state.durable_runs().is_some();
    let transport = StdioTransport::new(input, output, drain).with_tasks(has_tasks);
    let handler = Handler::connected(state.clone(), input_ended);
    let served = match serve_server_with_ct(handler, transport, shutdown).await {
        Ok(running) => running
            .waiting()
            .await
            .map(drop)
            .map_err(|error| ServeError::Connection(error.to_string())),
        // A client may disconnect before its first message.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(ServeError::Connection(error.to_string())),
    };
    closing.abort();
    if !state.tasks().is_empty() && !state.closing().is_cancelled() {
        // The client is gone. Its tasks have time to end; the next start of the server resumes the others.
        state.close();
        state.drained().await;
    }
    served
}
