//! Errors of serving.

use std::net::SocketAddr;

use crate::transport::ListenAddress;

/// Why the server could not start, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be bound.
    #[error("{address} cannot be bound ({source}): choose another address")]
    Listen {
        /// The address.
        address: ListenAddress,
        /// The cause.
        source: std::io::Error,
    },
    /// The address is not a loopback address, and there is no token.
    #[error(
        "{0} can be reached from other machines: set a token of at least 16 characters with \
         PML_TOKEN or --token-file"
    )]
    TokenNeeded(SocketAddr),
    /// The token can be guessed.
    #[error("the token has {0} characters; use at least 16 random ones")]
    TokenTooShort(usize),
    /// A file or variable for tokens has none.
    #[error("there is no token: write one of at least 16 random characters per line")]
    NoToken,
    /// The address is the wildcard address, and no host name is allowed.
    #[error(
        "{0} is the wildcard address of this machine: name the hosts that clients use with --allow-host"
    )]
    HostsNeeded(SocketAddr),
    /// The connection to the client broke, or the HTTP server did.
    #[error("the connection broke: {0}")]
    Connection(String),
    /// Another I/O error.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
