//! Valid access tokens.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthError, OAuthClientConfig};
use url::Url;

use super::endpoints;
use super::error::OAuthError;
use super::login::{self, LoggedIn, LoginOptions};
use super::login_record::LoginRecord;
use super::metadata::discover;
use super::store::{ServerCredentials, TokenStore};

/// The logins of a user, and their access tokens.
#[derive(Debug)]
pub struct OAuth {
    store: TokenStore,
    /// Logins that were read from disk, so that a request need not. Another process may have
    /// refreshed a token since; the old one is then still valid or is rejected, and after a
    /// rejection the file is read again.
    cache: Mutex<HashMap<Url, LoginRecord>>,
}

impl OAuth {
    /// The logins in `store`.
    pub fn new(store: TokenStore) -> Self {
        Self {
            store,
            cache: Mutex::default(),
        }
    }

    /// The stored logins.
    pub fn store(&self) -> &TokenStore {
        &self.store
    }

    /// Logs in to `server` through the browser.
    ///
    /// `open_browser` gets the address to open. It must return at once, and may print the address
    /// instead.
    ///
    /// # Errors
    /// The login fails or takes too long, or cannot be stored.
    pub async fn login(
        &self,
        server: &Url,
        options: &LoginOptions,
        open_browser: impl FnOnce(&Url) -> io::Result<()>,
    ) -> Result<LoggedIn, OAuthError> {
        let logged_in = login::login(&self.store, server, options, open_browser).await?;
        self.cache().remove(server);
        Ok(logged_in)
    }

    /// Deletes the login to `server`. `false` means there was none.
    ///
    /// # Errors
    /// The stored login cannot be deleted.
    pub async fn logout(&self, server: &Url) -> Result<bool, OAuthError> {
        self.cache().remove(server);
        self.store.forget(server).await
    }

    /// The token for the next request to `server`, refreshed if it is about to expire.
    ///
    /// `None` means there is no login; many servers need none.
    ///
    /// # Errors
    /// The stored login cannot be read, or the token cannot be refreshed.
    pub async fn bearer_for(&self, server: &Url) -> Result<Option<String>, OAuthError> {
        let now = SystemTime::now();
        if let Some(token) = self.cache().get(server).and_then(|known| fresh(known, now)) {
            return Ok(Some(token));
        }
        let Some(record) = self.store.load(server)? else {
            self.cache().remove(server);
            return Ok(None);
        };
        if let Some(token) = fresh(&record, now) {
            self.cache().insert(server.clone(), record);
            return Ok(Some(token));
        }
        let old = record.access_token().map(str::to_owned);
        match self.replace(server, old.as_deref()).await {
            // The early refresh failed, but the old token is still valid for some seconds.
            Err(error) if error.retryable() => match (old, record.valid_for(now)) {
                (Some(token), Some(left)) if !left.is_zero() => Ok(Some(token)),
                _ => Err(error),
            },
            replaced => replaced.map(Some),
        }
    }

    /// A new token after the server rejected `rejected`, for example because it was revoked.
    ///
    /// # Errors
    /// The stored login cannot be read, or the token cannot be refreshed.
    pub async fn bearer_after_rejection(
        &self,
        server: &Url,
        rejected: &str,
    ) -> Result<Option<String>, OAuthError> {
        self.cache().remove(server);
        if self.store.load(server)?.is_none() {
            return Ok(None);
        }
        self.replace(server, Some(rejected)).await.map(Some)
    }

    /// Gets a token other than `old`: that of another process, if it refreshed first, else a new one.
    async fn replace(&self, server: &Url, old: Option<&str>) -> Result<String, OAuthError> {
        let _lock = self.store.lock(server).await?;
        let record = self
            .store
            .load(server)?
            .ok_or_else(|| again(server, "another process logged out"))?;
        let current = record.access_token().filter(|token| Some(*token) != old);
        if let Some(token) = current
            && record.is_fresh(SystemTime::now())
        {
            let token = token.to_owned();
            self.cache().insert(server.clone(), record);
            return Ok(token);
        }
        let token = self.refresh(server, &record).await?;
        if let Some(record) = self.store.load(server)? {
            self.cache().insert(server.clone(), record);
        }
        Ok(token)
    }

    /// Uses the refresh token. The caller holds the lock.
    async fn refresh(&self, server: &Url, record: &LoginRecord) -> Result<String, OAuthError> {
        if !can_refresh(record) {
            return Err(again(server, "it has expired and cannot be renewed"));
        }
        let failed = |source| match source {
            AuthError::TokenRefreshRejected(_) => again(server, "the server no longer accepts it"),
            AuthError::AuthorizationRequired => again(server, "it has expired"),
            source => OAuthError::Refresh {
                server: server.clone(),
                source: Box::new(source),
            },
        };
        let mut manager = login::manager(server, record.private_network)
            .await
            .map_err(failed)?;
        manager.set_credential_store(ServerCredentials {
            store: self.store.clone(),
            server: server.clone(),
            client_secret: record.client_secret.clone(),
            private_network: record.private_network,
        });
        // Discovers the authorization server again: a refresh token must only be sent to the one that
        // issued it. rmcp compares the two, but accepts metadata without an issuer.
        let found = discover(&manager, server, None).await.map_err(failed)?;
        if record.credentials.issuer.is_some() && found.document.issuer.is_none() {
            return Err(failed(AuthError::NoAuthorizationSupport));
        }
        // Which hosts are right was decided at the login, by the issuer.
        endpoints::check(server, &found.document, record.private_network)?;
        manager.set_metadata(found.document);
        if !manager.initialize_from_store().await.map_err(failed)? {
            return Err(again(server, "it belongs to another authorization server"));
        }
        if let Some(secret) = &record.client_secret {
            let id = &record.credentials.client_id;
            // A refresh has no redirect, but the type requires an address.
            let client = OAuthClientConfig::new(id, server.as_str()).with_client_secret(secret);
            manager.configure_client(client).map_err(failed)?;
        }
        let tokens = manager.refresh_token().await.map_err(failed)?;
        Ok(tokens.access_token().secret().clone())
    }

    /// The token, refresh token and client secret of a login that was read before.
    pub(crate) fn secrets_of(&self, server: &Url) -> Vec<String> {
        let cache = self.cache();
        let Some(record) = cache.get(server) else {
            return Vec::new();
        };
        let secrets = record.secrets();
        secrets.map(|(_, secret)| secret.to_owned()).collect()
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<Url, LoginRecord>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fresh(record: &LoginRecord, now: SystemTime) -> Option<String> {
    record
        .access_token()
        .filter(|_| record.is_fresh(now))
        .map(str::to_owned)
}

fn can_refresh(record: &LoginRecord) -> bool {
    let tokens = record.credentials.token_response.as_ref();
    tokens.is_some_and(|tokens| tokens.refresh_token().is_some())
}

fn again(server: &Url, reason: &str) -> OAuthError {
    OAuthError::LoginAgain {
        server: server.clone(),
        reason: reason.to_owned(),
    }
}
