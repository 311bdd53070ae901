//! One login, from a server's address to a stored token.

use std::io;
use std::time::Duration;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig,
};
use url::Url;

use super::endpoints::{self, ConfirmHosts};
use super::error::OAuthError;
use super::metadata::discover;
use super::redirect::RedirectListener;
use super::store::{ServerCredentials, TokenStore};

/// The client name that `pml` registers.
const CLIENT_NAME: &str = "pml";

/// Options of a login. The defaults suit most servers.
#[derive(Debug, Clone)]
pub struct LoginOptions {
    /// The client identity of `pml`.
    pub identity: ClientIdentity,
    /// The scopes to request. If empty, those that the server asks for.
    pub scopes: Vec<String>,
    /// The `WWW-Authenticate` header of a refused request, if there was one.
    pub challenge: Option<String>,
    /// The port of the redirect URI; 0 takes a free one.
    pub redirect_port: u16,
    /// How long the user has to log in.
    pub timeout: Duration,
    /// Allows private addresses in the server's metadata, as inside a company. By default they are
    /// refused: a server could make this machine probe its network (SSRF).
    pub private_network: bool,
    /// Hosts of other sites that the login may go through without a question.
    pub allowed_hosts: Vec<String>,
    /// Asks about hosts of other sites; without it they are refused.
    pub confirm_hosts: Option<ConfirmHosts>,
}

impl Default for LoginOptions {
    fn default() -> Self {
        Self {
            identity: ClientIdentity::default(),
            scopes: Vec::new(),
            challenge: None,
            redirect_port: 0,
            timeout: Duration::from_secs(300),
            private_network: false,
            allowed_hosts: Vec::new(),
            confirm_hosts: None,
        }
    }
}

/// The client identity of `pml` at the authorization server.
#[derive(Debug, Clone, Default)]
pub enum ClientIdentity {
    /// Registers itself dynamically.
    #[default]
    Register,
    /// A client that was registered by hand.
    Registered {
        /// The client id.
        id: String,
        /// The client secret, if it has one.
        secret: Option<String>,
    },
    /// A client ID metadata document, where the server supports them; else it registers itself.
    Document {
        /// The address of the document.
        url: Url,
    },
}

/// A successful login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedIn {
    /// The server.
    pub server: Url,
    /// The granted scopes, which may be fewer than requested.
    pub scopes: Vec<String>,
}

/// rmcp's authorization manager for one server.
pub(super) async fn manager(
    server: &Url,
    private_network: bool,
) -> Result<AuthorizationManager, AuthError> {
    // rmcp builds its own HTTP clients with the TLS provider of the process.
    crate::install_tls();
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
    confirm_hosts(server, &found.document, options)?;
    manager.set_metadata(found.document.clone());
    let scopes = choose_scopes(&manager, options).await;
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();

    // Listening comes first: the redirect URI is registered.
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
        // Old servers publish nothing and use default paths; this one does not.
        AuthError::RegistrationFailed(_) if !found.published => OAuthError::NoMetadata {
            server: server.clone(),
        },
        source => explain(server, source),
    })?;
    manager.set_credential_store(ServerCredentials {
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
    let address = endpoints::checked(
        server,
        "authorization_endpoint",
        &address,
        options.private_network,
    )?;
    let state = state_of(&address).unwrap_or_default();
    open_browser(&address).map_err(|source| OAuthError::Browser {
        url: address.clone(),
        source,
    })?;
    let redirect = listener.redirect(&state, options.timeout).await?;
    // Not earlier: the user may take minutes, and other processes refresh the old token meanwhile.
    let _lock = store.lock(server).await?;
    manager
        .exchange_code_for_token_with_issuer(&redirect.code, &state, redirect.issuer.as_deref())
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

/// Checks the endpoints, before anything is sent to one of them.
fn confirm_hosts(
    server: &Url,
    metadata: &AuthorizationMetadata,
    options: &LoginOptions,
) -> Result<(), OAuthError> {
    let mut hosts = endpoints::check(server, metadata, options.private_network)?;
    hosts.retain(|host| !options.allowed_hosts.contains(host));
    if hosts.is_empty() || options.confirm_hosts.is_some_and(|ask| ask(server, &hosts)) {
        return Ok(());
    }
    Err(OAuthError::ForeignHost {
        server: server.clone(),
        hosts,
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

/// Converts rmcp's error.
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
