//! Errors of starting or reaching a server.

use std::time::Duration;

use crate::config::ConfigError;

/// Why a server could not be started or reached. Each message names the cause and the next step, and
/// quotes the last lines of standard error.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StartError {
    /// The configuration disables it.
    #[error("it is disabled in the configuration: remove `\"disabled\": true` to use it")]
    Disabled,

    /// Its configuration is invalid.
    #[error("{0}")]
    Config(#[from] ConfigError),

    /// The program does not exist.
    #[error(
        "the program `{program}` was not found: install it, or write its full path as `command`"
    )]
    ProgramNotFound {
        /// The program.
        program: String,
    },

    /// The working directory does not exist.
    #[error("the folder `{cwd}` does not exist: correct `cwd`")]
    FolderNotFound {
        /// The directory.
        cwd: String,
    },

    /// The program cannot be executed.
    #[error("the program `{program}` could not be started ({reason}): check its permissions")]
    Spawn {
        /// The program.
        program: String,
        /// The reason.
        reason: String,
    },

    /// The process exited during the start.
    #[error("it ended during start ({status}): run its command by hand to see why{}", quoted(.stderr))]
    Exited {
        /// The exit status.
        status: String,
        /// The last lines of standard error.
        stderr: Vec<String>,
    },

    /// The start took too long.
    #[error(
        "it did not finish starting within {:.1} s: run its command by hand, or raise `startTimeout`{}",
        .after.as_secs_f64(), quoted(.stderr)
    )]
    TimedOut {
        /// The timeout.
        after: Duration,
        /// The last lines of standard error.
        stderr: Vec<String>,
    },

    /// The server requires a login.
    #[error("it requires a login: run `pml login {server}`, or set an `Authorization` header")]
    LoginNeeded {
        /// The name of the server.
        server: String,
        /// The `WWW-Authenticate` header, for the login.
        challenge: Option<String>,
    },

    /// The server cannot be reached over HTTP.
    #[error("{url} could not be reached ({reason}): check the address and that the server runs")]
    Unreachable {
        /// The address.
        url: String,
        /// The reason.
        reason: String,
    },

    /// The HTTP client cannot be created.
    #[error("the HTTP client cannot be set up ({reason}): check the certificates of this machine")]
    HttpClient {
        /// The reason.
        reason: String,
    },

    /// The handshake failed.
    #[error("it does not speak MCP as expected ({reason}){}", quoted(.stderr))]
    Handshake {
        /// The reason.
        reason: String,
        /// The last lines of standard error.
        stderr: Vec<String>,
    },

    /// The gateway is shutting down.
    #[error("the gateway is shutting down")]
    ShuttingDown,
}

impl StartError {
    /// Whether the same start may succeed later without a change of the configuration.
    pub fn is_transient(&self) -> bool {
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

/// The last lines of standard error, as the end of a message.
pub(crate) fn quoted(stderr: &[String]) -> String {
    if stderr.is_empty() {
        return String::new();
    }
    format!("; its last lines on standard error: {}", stderr.join(" | "))
}
