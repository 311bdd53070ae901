//! Errors of starting or reaching a server.

use std::time::Duration;

use pml_credentials::SecretError;
use url::Url;

use crate::config::ConfigError;
use crate::secrets::{Secrets, shown_origin};

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
        /// Whether somebody else ended it: a person, or the kernel for want of memory.
        killed: bool,
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
    #[error("{origin} could not be reached ({reason}): check the address and that the server runs")]
    Unreachable {
        /// Scheme, host and port of the address. The rest may hold credentials.
        origin: String,
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

    /// The OpenAPI document of a service cannot be used.
    #[error("the OpenAPI document {document} cannot be used: {reason}")]
    OpenApi {
        /// The file, or scheme and host of its address.
        document: String,
        /// The reason and what to do.
        reason: String,
    },

    /// The files of functions cannot be used.
    #[error("its functions cannot be used: {reason}")]
    Functions {
        /// The reason and what to do.
        reason: String,
    },

    /// A secret that its entry names cannot be used.
    #[error("{0}")]
    Secret(#[from] SecretError),

    /// The gateway is shutting down.
    #[error("the gateway is shutting down")]
    ShuttingDown,
}

impl StartError {
    /// Whether the same start may succeed later without a change of the configuration.
    pub fn is_transient(&self) -> bool {
        if let Self::Secret(error) = self {
            return error.is_transient();
        }
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

impl StartError {
    /// The error without secrets in its texts.
    pub(crate) fn hidden(mut self, secrets: &Secrets) -> Self {
        let (text, stderr) = match &mut self {
            // Words of the configuration, in which no script has a part.
            Self::ProgramNotFound { program: text } | Self::FolderNotFound { cwd: text } => {
                secrets.hide_for_people_in(text);
                (None, None)
            }
            Self::HttpClient { reason }
            | Self::OpenApi { reason, .. }
            | Self::Functions { reason } => (Some(reason), None),
            Self::Spawn {
                program: configured,
                reason,
            }
            | Self::Unreachable {
                origin: configured,
                reason,
            } => {
                secrets.hide_for_people_in(configured);
                (Some(reason), None)
            }
            Self::Secret(error) => {
                error
                    .texts_mut()
                    .for_each(|text| secrets.hide_for_people_in(text));
                (None, None)
            }
            Self::Handshake { reason, stderr } => (Some(reason), Some(stderr)),
            Self::Exited { status, stderr, .. } => (Some(status), Some(stderr)),
            Self::TimedOut { stderr, .. } => (None, Some(stderr)),
            Self::Disabled | Self::Config(_) | Self::LoginNeeded { .. } | Self::ShuttingDown => {
                (None, None)
            }
        };
        for text in text.into_iter().chain(stderr.into_iter().flatten()) {
            secrets.hide_in(text);
        }
        self
    }
}

/// A text with every address in it reduced to scheme, host and port: HTTP clients quote the address
/// that they could not reach.
pub(crate) fn without_paths(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("://") {
        let scheme = rest[..start]
            .rfind(|c: char| !c.is_ascii_alphanumeric())
            .map_or(0, |before| before + 1);
        // The character before the scheme may have several bytes.
        let scheme = (scheme..=start)
            .find(|at| rest.is_char_boundary(*at))
            .unwrap_or(start);
        // An address may contain any sign, also in a secret; only those at its end belong to the text.
        let length = rest[start..]
            .find(char::is_whitespace)
            .unwrap_or(rest.len() - start);
        let length = rest[start..start + length]
            .trim_end_matches(|c: char| "\"'`<>()[]{}|,.:;".contains(c))
            .len();
        let (address, after) = rest[scheme..].split_at(start - scheme + length);
        out.push_str(&rest[..scheme]);
        match Url::parse(address) {
            Ok(url) if url.origin().is_tuple() => out.push_str(&shown_origin(&url)),
            _ => out.push_str("(address)"),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The last lines of standard error, as the end of a message.
pub(crate) fn quoted(stderr: &[String]) -> String {
    if stderr.is_empty() {
        return String::new();
    }
    format!("; its last lines on standard error: {}", stderr.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_errors_have_no_path_query_or_user() {
        for (text, expected) in [
            (
                "error sending request for url (https://me:pw@a.example:8443/s/secret?key=1#x): refused",
                "error sending request for url (https://a.example:8443): refused",
            ),
            (
                "«http://127.0.0.1:9/api/q7Zp» failed",
                "«http://127.0.0.1:9 failed",
            ),
            (
                "no answer from https://a.example/mcp?key=k3y)0f-the|0per4tor, try again",
                "no answer from https://a.example, try again",
            ),
            ("redis://:pw@h failed", "(address) failed"),
            ("no address :// here", "no address (address) here"),
            ("connection refused", "connection refused"),
        ] {
            assert_eq!(without_paths(text), expected);
        }
    }
}
