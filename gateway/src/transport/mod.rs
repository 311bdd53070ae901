//! Reaching a server: stdio, streamable HTTP, and SSE for old servers.

mod bounded;
mod connect;
mod environment;
mod error;
mod facilities;
mod guard;
mod http;
mod lenient;
mod line_reader;
mod login;
mod process;
mod repair;
mod scan;
mod sse;
mod stderr;
mod stdio;
mod traffic;

use rmcp::model::ErrorCode;

pub(crate) use connect::{Link, Means, connect};
pub use error::StartError;
pub(crate) use error::quoted;
pub(crate) use facilities::Facilities;
pub(crate) use guard::Guard;
pub(crate) use login::Login;
pub(crate) use process::ServerProcess;
pub(crate) use stderr::StderrTail;
pub(crate) use traffic::Traffic;

/// A larger message is refused with its size: it would only fill the sandbox.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// Codes of the errors that a transport puts in the place of an answer it cannot deliver. They
/// lie outside the ranges that JSON-RPC and MCP use.
pub(crate) const TOO_LARGE: ErrorCode = ErrorCode(-31_001);
pub(crate) const MALFORMED: ErrorCode = ErrorCode(-31_002);
