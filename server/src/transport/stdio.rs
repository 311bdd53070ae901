//! One client over standard input and output.

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use tokio_util::sync::CancellationToken;

use super::lines::{Ending, Lines};
use crate::error::ServeError;
use crate::handler::Handler;
use crate::state::ServerState;

/// Serves until the client closes its end, or the server is closed and its calls have ended.
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
    let ending = Ending {
        input_ended: input_ended.clone(),
        drain: state.drain_time(),
        shutdown: shutdown.clone(),
    };
    let lines = Lines::new(input, output, ending);
    let handler = Handler::connected(state, input_ended);
    let served = match serve_server_with_ct(handler, lines, shutdown).await {
        Ok(running) => running
            .waiting()
            .await
            .map(drop)
            .map_err(|error| ServeError::Connection(error.to_string())),
        // A client that leaves before it has said anything did nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(ServeError::Connection(error.to_string())),
    };
    closing.abort();
    served
}
