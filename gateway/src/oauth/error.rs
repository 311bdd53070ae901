//! Errors of logins and tokens.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rmcp::transport::auth::AuthError;
use url::Url;

/// Why there is no token. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// The server publishes no OAuth metadata.
    #[error(
        "{server} publishes no OAuth metadata and does not register clients: if it takes a fixed token, set it in `headers`"
    )]
    NoMetadata {
        /// The server.
        server: Url,
    },
    /// The authorization server refused the registration.
    #[error(
        "{server} does not let programs register themselves ({reason}): register `pml` there by hand and pass the client id"
    )]
    Registration {
        /// The server.
        server: Url,
        /// The reason.
        reason: String,
    },
    /// The authorization server does not support PKCE.
    #[error(
        "the authorization server of {server} does not offer PKCE with S256, which a safe login needs: ask its operator to turn it on"
    )]
    NoPkce {
        /// The server.
        server: Url,
    },
    /// The browser did not come back in time.
    #[error("no answer from the browser within {} s; {ignored} redirects that did not belong to this login were ignored: start the login again", .waited.as_secs())]
    NoAnswer {
        /// How long it was waited for.
        waited: Duration,
        /// Redirects with another state.
        ignored: u32,
    },
    /// The user or the server refused the login.
    #[error("the login was refused: {error}{}", .description.as_deref().map(|d| format!(" ({d})")).unwrap_or_default())]
    Refused {
        /// The OAuth error code.
        error: String,
        /// Its description.
        description: Option<String>,
    },
    /// The redirect came from another authorization server.
    #[error(
        "the answer to this login came from another authorization server than the one that was asked: do not go on, and check the server's address"
    )]
    WrongIssuer,
    /// No loopback port could be opened.
    #[error("no port of this machine could be opened for the browser to come back to")]
    Listen(#[source] io::Error),
    /// The browser could not be opened.
    #[error("the browser could not be opened: open this address by hand: {url}")]
    Browser {
        /// The address to open.
        url: Url,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The login is no longer valid.
    #[error("the login to {server} is no longer valid ({reason}): run `pml login` for it again")]
    LoginAgain {
        /// The server.
        server: Url,
        /// The reason.
        reason: String,
    },
    /// The token could not be refreshed.
    #[error("the token of {server} could not be refreshed: try again, or run `pml login` for it")]
    Refresh {
        /// The server.
        server: Url,
        /// The error of the protocol.
        source: Box<AuthError>,
    },
    /// The authorization server broke the protocol.
    #[error("invalid response of the authorization server of {server}")]
    Protocol {
        /// The server.
        server: Url,
        /// The error of the protocol.
        source: Box<AuthError>,
    },
    /// The stored login cannot be read or written.
    #[error("the stored login {path} cannot be read or written")]
    Store {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The stored login cannot be parsed.
    #[error("the stored login {path} is damaged: delete it and run `pml login` again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// Another process holds the lock of the stored login.
    #[error("another process has held the stored login {path} for {} s: end it, or try again", .waited.as_secs())]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The user has no home folder.
    #[error("no folder for logins: the user has no home folder; set `HOME`")]
    NoFolder,
}

impl OAuthError {
    /// Whether the same request may succeed later without an action of the user.
    pub fn retryable(&self) -> bool {
        matches!(self, Self::Refresh { .. } | Self::Locked { .. })
    }
}
