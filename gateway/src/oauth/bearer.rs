//! A login as the transport sees it.

use std::sync::Arc;

use futures::future::BoxFuture;
use url::Url;

use super::access::OAuth;
use crate::transport::Bearer;

/// The tokens of one server, for its transport.
#[derive(Debug, Clone)]
pub struct ServerBearer {
    oauth: Arc<OAuth>,
    server: Url,
}

impl ServerBearer {
    pub fn new(oauth: Arc<OAuth>, server: Url) -> Self {
        Self { oauth, server }
    }
}

impl Bearer for ServerBearer {
    /// A login that is no longer good sends no token: the server then answers that it wants
    /// one, and the reason is in the log.
    fn token(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async {
            self.oauth
                .bearer_for(&self.server)
                .await
                .unwrap_or_else(|error| {
                    tracing::warn!(server = %self.server, %error, "no access token");
                    None
                })
        })
    }
}
