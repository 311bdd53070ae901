//! What can be read of servers and policies while they work, for metrics.

use crate::Gateway;
use crate::config::Endpoint;
use crate::policy::breaker::BreakerState;
use crate::policy::cache::CacheStats;

/// A server as it is now.
#[derive(Debug, Clone)]
pub struct ServerSnapshot<'a> {
    /// Its name in the configuration.
    pub name: &'a str,
    /// Whether it is connected.
    pub is_up: bool,
    /// The state of its circuit breaker.
    pub breaker: BreakerState,
}

impl Gateway {
    /// The servers as they are now. Starts none.
    pub fn server_snapshots(&self) -> impl Iterator<Item = ServerSnapshot<'_>> {
        let breakers = &self.0.policy().breakers;
        self.0.servers.iter().map(|(name, server)| ServerSnapshot {
            name,
            is_up: server.live().is_some(),
            breaker: breakers.state(name),
        })
    }

    /// How the cache of results is used.
    pub fn cache_stats(&self) -> CacheStats {
        self.0.policy().cache.stats()
    }

    /// How a server is reached, in the words of OpenTelemetry: `pipe` for a child process, `tcp` for an
    /// address; `None` if there is no such server, it is not usable, or it has functions, which pml runs.
    pub fn transport_of(&self, server: &str) -> Option<&'static str> {
        match self.0.servers.get(server)?.config.endpoint {
            Ok(Endpoint::Stdio(_)) => Some("pipe"),
            Ok(Endpoint::Http(_) | Endpoint::Sse(_) | Endpoint::OpenApi(_)) => Some("tcp"),
            Ok(Endpoint::Functions(_)) | Err(_) => None,
        }
    }
}
