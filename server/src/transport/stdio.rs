//! One client, over standard input and output.

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use tokio_util::sync::CancellationToken;

use super::lines::{Ending, Lines};
use crate::error::ServeError;
use crate::handler::Handler;
use crate::house::House;

/// Serves until the client closes its end, or the house is closed and its calls have ended.
pub async fn serve_stdio(house: House) -> Result<(), ServeError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    let over = CancellationToken::new();
    let closing = tokio::spawn({
        let (house, over) = (house.clone(), over.clone());
        async move {
            house.closing().cancelled().await;
            house.drained().await;
            over.cancel();
        }
    });
    let silence = CancellationToken::new();
    let ending = Ending {
        silence: silence.clone(),
        patience: house.drain(),
        over: over.clone(),
    };
    let lines = Lines::new(input, output, ending);
    let handler = Handler::connected(house, silence);
    let served = match serve_server_with_ct(handler, lines, over).await {
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
