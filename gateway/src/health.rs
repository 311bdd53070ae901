//! A sign of life from servers that nobody uses at the moment, so that the next call does not
//! find a dead one.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::server::Server;

const ROUND: Duration = Duration::from_secs(15);
const IDLE: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(10);

/// Pings idle servers until `shutdown`; one that does not answer is ended, and starts anew when
/// it is next used.
pub async fn watch(servers: Vec<Arc<Server>>, shutdown: CancellationToken) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(ROUND) => {}
            () = shutdown.cancelled() => return,
        }
        let idle = servers.iter().filter_map(|server| {
            let connection = server.live()?;
            (connection.idle() >= IDLE).then_some((server, connection))
        });
        futures::future::join_all(idle.map(|(server, connection)| async move {
            if connection.ping(PATIENCE).await.is_none() && !connection.busy() {
                server.retire(&connection, "it did not answer a ping");
            }
        }))
        .await;
    }
}
