//! What can go wrong between a server that asks for a login and a token for it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rmcp::transport::auth::AuthError;
use url::Url;

/// Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    #[error(
        "{server} publishes no OAuth metadata and does not register clients: if it takes a fixed token, set it in `headers`"
    )]
    NoMetadata { server: Url },
    #[error(
        "{server} does not let programs register themselves ({reason}): register `pml` there by hand and pass the client id"
    )]
    Registration { server: Url, reason: String },
    #[error(
        "the authorization server of {server} does not offer PKCE with S256, which a safe login needs: ask its operator to turn it on"
    )]
    NoPkce { server: Url },
    #[error("no answer from the browser within {} s; {ignored} answers that did not belong to this login were ignored: start the login again", .waited.as_secs())]
    NoAnswer { waited: Duration, ignored: u32 },
    #[error("the login was refused: {error}{}", .description.as_deref().map(|d| format!(" ({d})")).unwrap_or_default())]
    Refused {
        error: String,
        description: Option<String>,
    },
    #[error(
        "the answer to this login came from another authorization server than the one that was asked: do not go on, and check the server's address"
    )]
    WrongIssuer,
    #[error("no port of this machine could be opened for the browser to come back to")]
    Listen(#[source] io::Error),
    #[error("the browser could not be opened: open this address by hand: {url}")]
    Browser { url: Url, source: io::Error },
    #[error("the login to {server} is no longer good ({reason}): run `pml login` for it again")]
    LoginAgain { server: Url, reason: String },
    #[error("the token of {server} could not be refreshed: try again, or run `pml login` for it")]
    Refresh { server: Url, source: Box<AuthError> },
    #[error("the authorization server of {server} gave an answer that cannot be used")]
    Protocol { server: Url, source: Box<AuthError> },
    #[error("the stored login {path} cannot be read or written")]
    Store { path: PathBuf, source: io::Error },
    #[error("the stored login {path} is damaged: delete it and run `pml login` again")]
    Damaged {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("another process has held the stored login {path} for {} s: end it, or try again", .waited.as_secs())]
    Locked { path: PathBuf, waited: Duration },
    #[error("no folder for logins: the user has no home folder; set `HOME`")]
    NoFolder,
}

impl OAuthError {
    /// Whether the same request may succeed later without a person doing anything.
    pub fn retryable(&self) -> bool {
        matches!(self, Self::Refresh { .. } | Self::Locked { .. })
    }
}
