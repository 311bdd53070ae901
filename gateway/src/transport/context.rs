//! State that all connections of a gateway share. Each part is created for the first connection that
//! needs it, so a script that calls no tool does not pay for it.

use std::sync::{Arc, OnceLock};

use super::http::new_http_client;
use super::{OrphanGuard, StartError};

/// The orphan guard and the HTTP client.
#[derive(Default)]
pub struct TransportContext {
    guard: OnceLock<Option<Arc<OrphanGuard>>>,
    client: OnceLock<reqwest::Client>,
}

impl TransportContext {
    /// Kills stdio servers when this process is killed; `None` if it could not be started.
    pub fn guard(&self) -> Option<Arc<OrphanGuard>> {
        let start = || {
            OrphanGuard::start()
                .inspect_err(|error| {
                    tracing::warn!(%error, "servers may outlive a killed pml: the guard could not be started");
                })
                .ok()
                .map(Arc::new)
        };
        self.guard.get_or_init(start).clone()
    }

    pub fn client(&self) -> Result<reqwest::Client, StartError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let client = new_http_client().map_err(|error| StartError::HttpClient {
            reason: error.to_string(),
        })?;
        Ok(self.client.get_or_init(|| client).clone())
    }
}
