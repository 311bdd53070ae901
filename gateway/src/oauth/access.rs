//! Tokens that are good now.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthError, OAuthClientConfig};
use url::Url;

use super::error::OAuthError;
use super::login::{self, LoggedIn, LoginOptions};
use super::metadata::discover;
use super::record::Record;
use super::store::{Slot, TokenStore};

/// The logins of a user, and the tokens they give.
#[derive(Debug)]
pub struct OAuth {
    store: TokenStore,
    /// What was read last, so that a request costs no look at the disk. Another process may have
    /// replaced a token since; the old one then either still serves or is rejected, and a
    /// rejection looks at the disk.
    known: Mutex<HashMap<Url, Record>>,
}

impl OAuth {
    pub fn new(store: TokenStore) -> Self {
        Self {
            store,
            known: Mutex::default(),
        }
    }

    pub fn store(&self) -> &TokenStore {
        &self.store
    }

    /// Takes a person through the login to `server`.
    ///
    /// `open_browser` is given the address to show; it returns at once and may as well print it.
    pub async fn login(
        &self,
        server: &Url,
        options: &LoginOptions,
        open_browser: impl FnOnce(&Url) -> io::Result<()>,
    ) -> Result<LoggedIn, OAuthError> {
        let logged_in = login::login(&self.store, server, options, open_browser).await?;
        self.known().remove(server);
        Ok(logged_in)
    }

    /// Forgets the login to `server`. `false` means there was none.
    pub async fn logout(&self, server: &Url) -> Result<bool, OAuthError> {
        self.known().remove(server);
        self.store.forget(server).await
    }

    /// The token for the next request to `server`, refreshed if it is about to expire.
    ///
    /// `None` means nobody ever logged in there; many servers need no login.
    pub async fn bearer_for(&self, server: &Url) -> Result<Option<String>, OAuthError> {
        let now = SystemTime::now();
        if let Some(token) = self.known().get(server).and_then(|known| fresh(known, now)) {
            return Ok(Some(token));
        }
        let Some(record) = self.store.load(server)? else {
            self.known().remove(server);
            return Ok(None);
        };
        if let Some(token) = fresh(&record, now) {
            self.known().insert(server.clone(), record);
            return Ok(Some(token));
        }
        let old = record.access_token().map(str::to_owned);
        match self.replace(server, old.as_deref()).await {
            // A failed attempt to refresh early is no reason to stop using a token that still
            // has some seconds to live.
            Err(error) if error.retryable() => match (old, record.good_for(now)) {
                (Some(token), Some(left)) if !left.is_zero() => Ok(Some(token)),
                _ => Err(error),
            },
            replaced => replaced.map(Some),
        }
    }

    /// A token to use after the server rejected `rejected`, which happens when it was revoked.
    pub async fn bearer_after_rejection(
        &self,
        server: &Url,
        rejected: &str,
    ) -> Result<Option<String>, OAuthError> {
        self.known().remove(server);
        if self.store.load(server)?.is_none() {
            return Ok(None);
        }
        self.replace(server, Some(rejected)).await.map(Some)
    }

    /// Gets a token other than `old`: another process's, if it was quicker, else a new one.
    async fn replace(&self, server: &Url, old: Option<&str>) -> Result<String, OAuthError> {
        let _lock = self.store.lock(server).await?;
        let record = self
            .store
            .load(server)?
            .ok_or_else(|| again(server, "it was ended by another process"))?;
        let current = record.access_token().filter(|token| Some(*token) != old);
        if let Some(token) = current
            && record.is_fresh(SystemTime::now())
        {
            let token = token.to_owned();
            self.known().insert(server.clone(), record);
            return Ok(token);
        }
        let token = self.refresh(server, &record).await?;
        if let Some(record) = self.store.load(server)? {
            self.known().insert(server.clone(), record);
        }
        Ok(token)
    }

    /// Uses the refresh token. The caller holds the lock.
    async fn refresh(&self, server: &Url, record: &Record) -> Result<String, OAuthError> {
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
        manager.set_credential_store(Slot {
            store: self.store.clone(),
            server: server.clone(),
            client_secret: record.client_secret.clone(),
            private_network: record.private_network,
        });
        // Discovers anew, because a refresh token must only ever go to the authorization server
        // that gave it. rmcp compares the two, but lets metadata that names none pass.
        let found = discover(&manager, server, None).await.map_err(failed)?;
        if record.credentials.issuer.is_some() && found.document.issuer.is_none() {
            return Err(failed(AuthError::NoAuthorizationSupport));
        }
        manager.set_metadata(found.document);
        if !manager.initialize_from_store().await.map_err(failed)? {
            return Err(again(server, "it belongs to another authorization server"));
        }
        if let Some(secret) = &record.client_secret {
            let id = &record.credentials.client_id;
            // A refresh redirects nowhere, but the type wants an address.
            let client = OAuthClientConfig::new(id, server.as_str()).with_client_secret(secret);
            manager.configure_client(client).map_err(failed)?;
        }
        let tokens = manager.refresh_token().await.map_err(failed)?;
        Ok(tokens.access_token().secret().clone())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Url, Record>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fresh(record: &Record, now: SystemTime) -> Option<String> {
    record
        .access_token()
        .filter(|_| record.is_fresh(now))
        .map(str::to_owned)
}

fn can_refresh(record: &Record) -> bool {
    let tokens = record.credentials.token_response.as_ref();
    tokens.is_some_and(|tokens| tokens.refresh_token().is_some())
}

fn again(server: &Url, reason: &str) -> OAuthError {
    OAuthError::LoginAgain {
        server: server.clone(),
        reason: reason.to_owned(),
    }
}
