//! A sign of life from servers that nobody uses at the moment, so that the next call does not
//! find a dead one.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::server::Server;

/// How often servers are looked at, and how long each part takes.
pub struct Pace {
    round: Duration,
    /// A server that was used since then needs no ping.
    idle: Duration,
    patience: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            round: Duration::from_secs(15),
            idle: Duration::from_secs(30),
            patience: Duration::from_secs(10),
        }
    }
}

/// Pings idle servers until `shutdown`; one that does not answer is ended, and starts anew when
/// it is next used.
pub async fn watch(servers: Vec<Arc<Server>>, shutdown: CancellationToken, pace: Pace) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(pace.round) => {}
            () = shutdown.cancelled() => return,
        }
        let idle = servers.iter().filter_map(|server| {
            let connection = server.live()?;
            (connection.idle() >= pace.idle).then_some((server, connection))
        });
        futures::future::join_all(idle.map(async |(server, connection)| {
            if connection.ping(pace.patience).await.is_none() && !connection.busy() {
                server.retire(&connection, "it did not answer a ping");
            }
        }))
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, ServerConfig};
    use crate::{Gateway, RunLimits};

    fn odd(name: &str, options: &[&str]) -> ServerConfig {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/odd.py");
        let args = [&["-u", script], options].concat();
        ServerConfig::stdio(
            name,
            "python3",
            args.into_iter().map(str::to_owned).collect(),
        )
    }

    #[tokio::test]
    async fn an_idle_server_that_answers_no_ping_is_started_anew_when_it_is_used() {
        let servers = [odd("mute", &["--mute"]), odd("well", &[])];
        let gateway = Gateway::open(Config::of(servers)).unwrap();
        gateway.warm().await;
        let server = |name: &str| gateway.0.servers[name].clone();
        let (mute, well) = (server("mute"), server("well"));
        assert!(mute.live().is_some() && well.live().is_some());

        let pace = Pace {
            round: Duration::from_millis(50),
            idle: Duration::from_millis(50),
            patience: Duration::from_millis(500),
        };
        let watched = vec![mute.clone(), well.clone()];
        let health = tokio::spawn(watch(watched, CancellationToken::new(), pace));
        let retired = async {
            while mute.live().is_some() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let retired = tokio::time::timeout(Duration::from_secs(20), retired).await;
        assert!(retired.is_ok(), "the mute server is still there");
        health.abort();
        assert!(well.live().is_some(), "the server that answers is gone");

        let text = serde_json::json!({ "text": "again" });
        let scope = gateway.run(RunLimits::default());
        let answer = gateway.call(&scope, "mute:echo", text).await.unwrap();
        assert_eq!(answer.value, "again");
        gateway.shutdown().await;
    }
}
