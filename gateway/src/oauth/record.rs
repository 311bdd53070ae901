//! What is remembered of a login.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oauth2::TokenResponse;
use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};
use url::Url;

/// A token is replaced this long before it expires, so that it does not expire on its way.
const MARGIN: Duration = Duration::from_secs(30);

/// The file of one server.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Record {
    /// The server the tokens are for; the file's name holds only a digest of it.
    pub(super) server: Url,
    /// Set where the authorization server gave `pml` a secret although it did not ask for one,
    /// or where an operator registered it with one. A refresh needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// Whether the login was made with leave to talk to private addresses.
    #[serde(default)]
    pub(super) private_network: bool,
    pub(super) credentials: StoredCredentials,
}

impl Record {
    pub(super) fn access_token(&self) -> Option<&str> {
        let tokens = self.credentials.token_response.as_ref()?;
        Some(tokens.access_token().secret())
    }

    /// How long the access token is good; `None` when its server did not say.
    pub(super) fn good_for(&self, now: SystemTime) -> Option<Duration> {
        let lifetime = self.lifetime()?;
        let received = UNIX_EPOCH + Duration::from_secs(self.credentials.token_received_at?);
        let age = now.duration_since(received).unwrap_or_default();
        Some(lifetime.saturating_sub(age))
    }

    /// Whether the access token should be used as it is.
    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        // A margin longer than the token lives would refresh it for every request.
        let margin = self.lifetime().map_or(MARGIN, |life| MARGIN.min(life / 4));
        self.good_for(now).is_none_or(|left| left > margin)
    }

    fn lifetime(&self) -> Option<Duration> {
        self.credentials.token_response.as_ref()?.expires_in()
    }
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record")
            .field("server", &self.server.as_str())
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}
