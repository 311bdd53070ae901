//! The access token of one HTTP server, from the logins of the user.

use std::sync::Arc;

use url::Url;

use crate::oauth::OAuth;

/// The login to one server. Without a stored login there is no token.
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
            // Without a token the server requires a login, which becomes the error.
            .inspect_err(|error| tracing::warn!(server = %self.server, %error, "no access token"))
            .ok()
            .flatten()
    }

    /// Another token after the server rejected `token`; `None` if there is none.
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
