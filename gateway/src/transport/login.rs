//! The access token of one HTTP server, from the logins of the user.

use std::sync::Arc;

use url::Url;

use crate::oauth::OAuth;
use crate::secrets::{Secrets, shown_origin};

/// The login to one server. Without a stored login there is no token.
#[derive(Debug, Clone)]
pub struct Login {
    logins: Arc<OAuth>,
    server: Url,
    /// Gets every token that is used.
    secrets: Secrets,
}

impl Login {
    pub fn new(logins: Arc<OAuth>, server: Url, secrets: Secrets) -> Self {
        Self {
            logins,
            server,
            secrets,
        }
    }

    /// Adds the token, and the rest of its login, to the secrets.
    fn noted(&self, token: String) -> String {
        if !self.secrets.contains(&token) {
            let others = self.logins.secrets_of(&self.server).into_iter();
            let others = others.map(|secret| (secret, "oauth.secret".to_owned()));
            let own = (token.clone(), "oauth.token".to_owned());
            // The token last: its label stays.
            self.secrets.add_login(&self.server, others.chain([own]));
        }
        token
    }

    fn report(&self, error: &crate::oauth::OAuthError, message: &str) {
        let error = self.secrets.hide_for_people(error.to_string()).into_owned();
        tracing::warn!(server = %shown_origin(&self.server), %error, "{message}");
    }

    /// The token for the next request.
    pub async fn token(&self) -> Option<String> {
        self.logins
            .bearer_for(&self.server)
            .await
            // Without a token the server requires a login, which becomes the error.
            .inspect_err(|error| self.report(error, "no access token"))
            .ok()
            .flatten()
            .map(|token| self.noted(token))
    }

    /// Another token after the server rejected `token`; `None` if there is none.
    pub async fn after_rejection(&self, token: &str) -> Option<String> {
        self.logins
            .bearer_after_rejection(&self.server, token)
            .await
            .inspect_err(|error| self.report(error, "no new access token"))
            .ok()
            .flatten()
            .filter(|new| new != token)
            .map(|token| self.noted(token))
    }
}
