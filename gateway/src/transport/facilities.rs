//! What the connections of a gateway share. Each part is made for the first connection that needs
//! it: a script that calls no tool pays for none of them.

use std::sync::{Arc, OnceLock};

use super::http::new_http_client;
use super::{Guard, StartError};

#[derive(Default)]
pub struct Facilities {
    guard: OnceLock<Option<Arc<Guard>>>,
    client: OnceLock<reqwest::Client>,
}

impl Facilities {
    /// Ends stdio servers when this process is killed; `None` where it could not be started.
    pub fn guard(&self) -> Option<Arc<Guard>> {
        let start = || {
            Guard::start()
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
