//! Health checks of idle servers, so that the next call does not find a dead one.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::server::Server;

/// The intervals of health checks.
pub struct HealthCheck {
    interval: Duration,
    /// A server that was used more recently than this is not pinged.
    idle: Duration,
    ping_timeout: Duration,
}

impl Default for HealthCheck {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(15),
            idle: Duration::from_secs(30),
            ping_timeout: Duration::from_secs(10),
        }
    }
}

/// Pings idle servers until `shutdown`. A server that does not answer is stopped, and started again
/// when it is next used.
pub async fn watch(servers: Vec<Arc<Server>>, shutdown: CancellationToken, check: HealthCheck) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(check.interval) => {}
            () = shutdown.cancelled() => return,
        }
        let idle = servers.iter().filter_map(|server| {
            let connection = server.live()?;
            (connection.idle() >= check.idle).then_some((server, connection))
        });
        futures::future::join_all(idle.map(async |(server, connection)| {
            if connection.ping(check.ping_timeout).await.is_none() && !connection.busy() {
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
    async fn an_idle_server_that_answers_no_ping_is_restarted_when_it_is_used() {
        let servers = [odd("mute", &["--mute"]), odd("well", &[])];
        let gateway = Gateway::open(Config::of(servers)).unwrap();
        gateway.warm().await;
        let server = |name: &str| gateway.0.servers[name].clone();
        let (mute, well) = (server("mute"), server("well"));
        assert!(mute.live().is_some() && well.live().is_some());

        let check = HealthCheck {
            interval: Duration::from_millis(50),
            idle: Duration::from_millis(50),
            ping_timeout: Duration::from_millis(500),
        };
        let watched = vec![mute.clone(), well.clone()];
        let health = tokio::spawn(watch(watched, CancellationToken::new(), check));
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
