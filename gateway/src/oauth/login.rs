//! One login, from a server's address to a stored token.

use std::io;
use std::time::Duration;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig,
};
use url::Url;

use super::error::OAuthError;
use super::metadata::discover;
use super::redirect::RedirectListener;
use super::store::{Slot, TokenStore};

/// How `pml` calls itself where it registers.
const CLIENT_NAME: &str = "pml";

/// What a person or the configuration knows beforehand. The defaults suit most servers.
#[derive(Debug, Clone)]
pub struct LoginOptions {
    /// Who `pml` is to the authorization server.
    pub identity: ClientIdentity,
    /// What to ask for. Empty: what the server says it needs.
    pub scopes: Vec<String>,
    /// The `WWW-Authenticate` header of a refused request, where there was one.
    pub challenge: Option<String>,
    /// The port the browser comes back to; 0 takes a free one.
    pub redirect_port: u16,
    /// How long a person has to log in.
    pub patience: Duration,
    /// Lets the server send `pml` to private addresses, as inside a company. Otherwise a server
    /// could make this machine ask around in its network.
    pub private_network: bool,
}

impl Default for LoginOptions {
    fn default() -> Self {
        Self {
            identity: ClientIdentity::default(),
            scopes: Vec::new(),
            challenge: None,
            redirect_port: 0,
            patience: Duration::from_secs(300),
            private_network: false,
        }
    }
}

/// Who `pml` is to the authorization server.
#[derive(Debug, Clone, Default)]
pub enum ClientIdentity {
    /// Nobody yet: it registers itself.
    #[default]
    Register,
    /// A client that was registered by hand.
    Registered { id: String, secret: Option<String> },
    /// A document at this address describes it, where the server takes such documents; else it
    /// registers itself.
    Document { url: Url },
}

/// A login that went well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedIn {
    pub server: Url,
    /// What was granted, which may be less than was asked for.
    pub scopes: Vec<String>,
}

/// rmcp's part of a login, set up for one server.
pub(super) async fn manager(
    server: &Url,
    private_network: bool,
) -> Result<AuthorizationManager, AuthError> {
    // rmcp builds its own HTTP clients, which take the process's TLS provider. Another part of
    // the process may have chosen one already; either serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if private_network {
        AuthorizationManager::new_allowing_private_addresses(server.as_str()).await
    } else {
        AuthorizationManager::new(server.as_str()).await
    }
}

pub(super) async fn login(
    store: &TokenStore,
    server: &Url,
    options: &LoginOptions,
    open_browser: impl FnOnce(&Url) -> io::Result<()>,
) -> Result<LoggedIn, OAuthError> {
    let protocol = |source| explain(server, source);
    let mut manager = manager(server, options.private_network)
        .await
        .map_err(protocol)?;
    let found = discover(&manager, server, options.challenge.as_deref())
        .await
        .map_err(protocol)?;
    manager.set_metadata(found.document.clone());
    let scopes = choose_scopes(&manager, options).await;
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();

    // Listening comes first: the address is part of what is registered.
    let listener = RedirectListener::bind(options.redirect_port).await?;
    let client = identify(
        &mut manager,
        &found.document,
        options,
        &listener.uri(),
        &scopes,
    )
    .await
    .map_err(|source| match source {
        // Old servers publish nothing and answer at well-known paths; this one does not.
        AuthError::RegistrationFailed(_) if !found.published => OAuthError::NoMetadata {
            server: server.clone(),
        },
        source => explain(server, source),
    })?;
    manager.set_credential_store(Slot {
        store: store.clone(),
        server: server.clone(),
        client_secret: client.client_secret.clone(),
        private_network: options.private_network,
    });
    manager.configure_client(client).map_err(protocol)?;

    let address = manager
        .get_authorization_url(&scopes)
        .await
        .map_err(protocol)?;
    let address = Url::parse(&address).map_err(|error| protocol(error.into()))?;
    let state = state_of(&address).unwrap_or_default();
    open_browser(&address).map_err(|source| OAuthError::Browser {
        url: address.clone(),
        source,
    })?;
    let answer = listener.answer(&state, options.patience).await?;
    // Not before: a person may take minutes, and others want to refresh the old token meanwhile.
    let _lock = store.lock(server).await?;
    manager
        .exchange_code_for_token_with_issuer(&answer.code, &state, answer.issuer.as_deref())
        .await
        .map_err(|source| match source {
            AuthError::AuthorizationServerMismatch { .. }
            | AuthError::AuthorizationServerMissingIssuer { .. } => OAuthError::WrongIssuer,
            source => explain(server, source),
        })?;
    Ok(LoggedIn {
        server: server.clone(),
        scopes: manager.get_current_scopes().await,
    })
}

async fn choose_scopes(manager: &AuthorizationManager, options: &LoginOptions) -> Vec<String> {
    if options.scopes.is_empty() {
        manager.select_initial_scopes(&[]).await
    } else {
        options.scopes.clone()
    }
}

async fn identify(
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    options: &LoginOptions,
    redirect_uri: &str,
    scopes: &[&str],
) -> Result<OAuthClientConfig, AuthError> {
    match &options.identity {
        ClientIdentity::Registered { id, secret } => {
            let client = OAuthClientConfig::new(id, redirect_uri);
            Ok(match secret {
                Some(secret) => client.with_client_secret(secret),
                None => client,
            })
        }
        ClientIdentity::Document { url } if takes_documents(metadata) => {
            Ok(OAuthClientConfig::new(url.as_str(), redirect_uri))
        }
        ClientIdentity::Document { .. } | ClientIdentity::Register => {
            manager
                .register_client(CLIENT_NAME, redirect_uri, scopes)
                .await
        }
    }
}

fn takes_documents(metadata: &AuthorizationMetadata) -> bool {
    let field = "client_id_metadata_document_supported";
    metadata.additional_fields.get(field) == Some(&true.into())
}

fn state_of(address: &Url) -> Option<String> {
    address
        .query_pairs()
        .find(|(key, _)| key == "state")
        .map(|(_, value)| value.into_owned())
}

/// Says what rmcp's error means to a person who is logging in.
fn explain(server: &Url, source: AuthError) -> OAuthError {
    let server = server.clone();
    match source {
        AuthError::PkceUnsupported => OAuthError::NoPkce { server },
        AuthError::RegistrationFailed(reason) => OAuthError::Registration { server, reason },
        source => OAuthError::Protocol {
            server,
            source: Box::new(source),
        },
    }
}
