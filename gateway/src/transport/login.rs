//! The access token of one HTTP server, from the logins of the user.

use std::sync::Arc;

use url::Url;

use crate::oauth::OAuth;

/// The login to one server. A server that was never logged in to gets no token.
#[derive(Debug, Clone)]
pub struct Login {
    logins: Arc<OAuth>,
    server: Url,
}

impl Login {
    pub fn new(logins: Arc<OAuth>, server: Url) -> Self {
        Self { logins, server }
    }

    /// The token for the next request.
    pub async fn token(&self) -> Option<String> {
        self.logins
            .bearer_for(&self.server)
            .await
            // Without a token the server answers that it wants a login, which is what is then told.
            .inspect_err(|error| tracing::warn!(server = %self.server, %error, "no access token"))
            .ok()
            .flatten()
    }

    /// Another token after the server rejected `token`; `None` when there is no other.
    pub async fn after_rejection(&self, token: &str) -> Option<String> {
        self.logins
            .bearer_after_rejection(&self.server, token)
            .await
            .inspect_err(
                |error| tracing::warn!(server = %self.server, %error, "no new access token"),
            )
            .ok()
            .flatten()
            .filter(|new| new != token)
    }
}
