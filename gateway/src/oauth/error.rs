//! Errors of logins and tokens.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rmcp::transport::auth::AuthError;
use url::Url;

use crate::secrets::shown_origin;

/// Why there is no token. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// The server publishes no OAuth metadata.
    #[error("{} publishes no OAuth metadata and does not register clients: if it takes a fixed token, set it in `headers`", shown_origin(.server))]
    NoMetadata {
        /// The server.
        server: Url,
    },
    /// The authorization server refused the registration.
    #[error("{} does not let programs register themselves ({reason}): register `pml` there by hand and pass the client id", shown_origin(.server))]
    Registration {
        /// The server.
        server: Url,
        /// The reason.
        reason: String,
    },
    /// The authorization server does not support PKCE.
    #[error("the authorization server of {} does not offer PKCE with S256, which a safe login needs: ask its operator to turn it on", shown_origin(.server))]
    NoPkce {
        /// The server.
        server: Url,
    },
    /// An address of the login is not safe to open or to call.
    #[error("{} names an address of the scheme `{scheme}` as its `{name}`: pml opens only https addresses for a login; check the server's address", shown_origin(.server))]
    UnsafeEndpoint {
        /// The server.
        server: Box<Url>,
        /// The field of the metadata.
        name: String,
        /// The scheme of the address.
        scheme: String,
    },
    /// The login goes through hosts that are not the server's own site.
    #[error("the login to {} goes through {}, which is another site, and was not confirmed: if you know it, pass `--auth-host {}`", shown_origin(.server), .hosts.join(" and "), .hosts.join(" --auth-host "))]
    ForeignHost {
        /// The server.
        server: Url,
        /// The hosts.
        hosts: Vec<String>,
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
    #[error("the login to {} is no longer valid ({reason}): run `pml login` for it again", shown_origin(.server))]
    LoginAgain {
        /// The server.
        server: Url,
        /// The reason.
        reason: String,
    },
    /// The token could not be refreshed.
    #[error("the token of {} could not be refreshed: try again, or run `pml login` for it", shown_origin(.server))]
    Refresh {
        /// The server.
        server: Url,
        /// The error of the protocol.
        source: Box<AuthError>,
    },
    /// A token or a client secret is too long to be kept and used.
    #[error("the authorization server of {} sent a {name} of {bytes} bytes, and pml takes 16 KiB at most: ask its operator for a shorter one", shown_origin(.server))]
    LongSecret {
        /// The server.
        server: Url,
        /// What is too long.
        name: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// The authorization server broke the protocol.
    #[error("invalid response of the authorization server of {}", shown_origin(.server))]
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
