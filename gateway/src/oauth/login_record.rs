//! A stored login.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oauth2::TokenResponse;
use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};
use url::Url;

use super::error::OAuthError;

/// A token is refreshed this long before it expires, so that it does not expire in transit.
const MARGIN: Duration = Duration::from_secs(30);

/// The longest token or client secret. Servers take headers of 8 to 16 KiB, and the gateway searches all
/// that leaves it for every token it has, in about ten forms.
pub(super) const MAX_SECRET_BYTES: usize = 16 * 1024;

/// The content of one server's file.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct LoginRecord {
    /// The server of the tokens; the file's name has only a digest of it.
    pub(super) server: Url,
    /// The client secret, if the authorization server issued one or the operator registered one. A
    /// refresh needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// Whether the login may use private addresses.
    #[serde(default)]
    pub(super) private_network: bool,
    pub(super) credentials: StoredCredentials,
}

impl LoginRecord {
    pub(super) fn access_token(&self) -> Option<&str> {
        let tokens = self.credentials.token_response.as_ref()?;
        Some(tokens.access_token().secret())
    }

    /// The tokens and the client secret, with the name of each: the access token last.
    pub(super) fn secrets(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let tokens = self.credentials.token_response.as_ref();
        let refresh = tokens.and_then(|tokens| tokens.refresh_token());
        let all = [
            ("client secret", self.client_secret.as_deref()),
            (
                "refresh token",
                refresh.map(|token| token.secret().as_str()),
            ),
            ("access token", self.access_token()),
        ];
        let present = |(name, secret): (_, Option<_>)| Some((name, secret?));
        all.into_iter().filter_map(present)
    }

    /// Fails if a token or the client secret is longer than [`MAX_SECRET_BYTES`].
    pub(super) fn check_lengths(&self) -> Result<(), OAuthError> {
        let mut secrets = self.secrets();
        let long = secrets.find(|(_, secret)| secret.len() > MAX_SECRET_BYTES);
        long.map_or(Ok(()), |(name, secret)| {
            Err(OAuthError::LongSecret {
                server: self.server.clone(),
                name,
                bytes: secret.len(),
            })
        })
    }

    /// How long the access token is valid; `None` if the server did not say.
    pub(super) fn valid_for(&self, now: SystemTime) -> Option<Duration> {
        let lifetime = self.lifetime()?;
        let received = UNIX_EPOCH + Duration::from_secs(self.credentials.token_received_at?);
        let age = now.duration_since(received).unwrap_or_default();
        Some(lifetime.saturating_sub(age))
    }

    /// Whether the access token need not be refreshed.
    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        // A margin longer than the token's lifetime would refresh it for every request.
        let margin = self.lifetime().map_or(MARGIN, |life| MARGIN.min(life / 4));
        self.valid_for(now).is_none_or(|left| left > margin)
    }

    fn lifetime(&self) -> Option<Duration> {
        self.credentials.token_response.as_ref()?.expires_in()
    }
}

impl std::fmt::Debug for LoginRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginRecord")
            .field("server", &self.server.as_str())
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}
