//! How other commands reach a `pml serve` of the same user: every one listens on a socket in the user's
//! data folder, and answers a request of one line of JSON with one line.

mod client;
mod listener;
pub mod logs;
pub mod restart;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use listener::listen;

/// The most bytes of a request or an answer.
const MAX_BYTES: u64 = 1024 * 1024;

/// What a command asks of a running server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Request {
    /// The last lines that an MCP server wrote to standard error.
    Logs { server: String, lines: usize },
    /// Starts an MCP server anew.
    Restart { server: String },
}

impl Request {
    fn server(&self) -> &str {
        match self {
            Self::Logs { server, .. } | Self::Restart { server } => server,
        }
    }
}

/// The answer of a running server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    Logs(Vec<String>),
    Restarted {
        ms: u64,
    },
    /// The MCP server did not start, for this reason.
    Failed(String),
    /// The configuration has no such MCP server, but these.
    NoServer(Vec<String>),
    /// The request cannot be read: it comes from another version of pml.
    Unreadable,
}

/// The folder of the sockets. `None` for a user without a home folder.
fn folder() -> Option<PathBuf> {
    Some(pml_files::data_dir()?.join("serve"))
}
