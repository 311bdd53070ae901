//! Why a server could not be started or reached, said so that a person knows what to do.

use std::time::Duration;

use crate::config::ConfigError;

/// A failed start. Each message names the cause and the next step; the server's own last words
/// on standard error follow where there are any.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StartError {
    #[error("it is disabled in the configuration: remove `\"disabled\": true` to use it")]
    Disabled,

    #[error("{0}")]
    Config(#[from] ConfigError),

    #[error(
        "the program `{program}` was not found: install it, or write its full path as `command`"
    )]
    ProgramNotFound { program: String },

    #[error("the folder `{cwd}` does not exist: correct `cwd`")]
    FolderNotFound { cwd: String },

    #[error("the program `{program}` could not be started ({reason}): check its permissions")]
    Spawn { program: String, reason: String },

    #[error("it ended during start ({status}): run its command by hand to see why{}", quoted(.stderr))]
    Exited { status: String, stderr: Vec<String> },

    #[error(
        "it did not finish starting within {:.1} s: run its command by hand, or raise `startTimeout`{}",
        .after.as_secs_f64(), quoted(.stderr)
    )]
    TimedOut {
        after: Duration,
        stderr: Vec<String>,
    },

    #[error("it wants a login: run `pml login {server}`, or set an `Authorization` header")]
    LoginNeeded {
        server: String,
        /// The `WWW-Authenticate` header that a login has to know of.
        challenge: Option<String>,
    },

    #[error("{url} could not be reached ({reason}): check the address and that the server runs")]
    Unreachable { url: String, reason: String },

    #[error("the HTTP client cannot be set up ({reason}): check the certificates of this machine")]
    HttpClient { reason: String },

    #[error("it does not speak MCP as expected ({reason}){}", quoted(.stderr))]
    Handshake { reason: String, stderr: Vec<String> },

    #[error("the gateway is shutting down")]
    ShuttingDown,
}

impl StartError {
    /// Whether the same start can work later without anybody changing anything.
    pub fn passes(&self) -> bool {
        !matches!(
            self,
            Self::Disabled
                | Self::Config(_)
                | Self::ProgramNotFound { .. }
                | Self::FolderNotFound { .. }
                | Self::LoginNeeded { .. }
                | Self::ShuttingDown
        )
    }
}

/// The last words of a server, as the end of a sentence.
pub(crate) fn quoted(stderr: &[String]) -> String {
    if stderr.is_empty() {
        return String::new();
    }
    format!("; its last words: {}", stderr.join(" | "))
}
