//! Why the server could not be started, or had to end.

use std::net::SocketAddr;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("{address} cannot be listened on ({source}): choose another port")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
    #[error(
        "{0} can be reached from other machines: set a token of at least 16 characters with \
         PML_TOKEN or --token-file"
    )]
    TokenNeeded(SocketAddr),
    #[error("the token has {0} characters; use at least 16 that nobody can guess")]
    TokenTooShort(usize),
    #[error(
        "{0} stands for every address of this machine: name the hosts that clients use with --allow-host"
    )]
    HostsNeeded(SocketAddr),
    #[error("the connection broke: {0}")]
    Connection(String),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
