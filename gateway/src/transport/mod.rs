//! Transports: stdio, streamable HTTP, and HTTP+SSE for old servers.

mod body_memory;
mod bounded_http;
mod connect;
mod context;
mod descendants;
mod environment;
mod error;
mod events;
mod held_results;
mod http;
mod id_scanner;
mod large_events;
mod lenient;
mod line_reader;
mod login;
mod orphan_guard;
mod parked_messages;
mod process;
mod repair;
mod secret_headers;
mod size_limit;
mod sse;
mod stderr;
mod stdio;
mod traffic;

use rmcp::model::ErrorCode;

pub(crate) use body_memory::ServerShare;
pub(crate) use bounded_http::{Body, read_body};
pub(crate) use connect::{ConnectOptions, connect};
pub(crate) use context::TransportContext;
pub(crate) use descendants::{GatewayCount, reap_orphans};
pub use error::StartError;
pub(crate) use error::{quoted, without_paths};
pub(crate) use events::EventParser;
pub use http::install_tls;
pub(crate) use http::new_http_client;
pub(crate) use lenient::parse_line;
pub(crate) use login::Login;
pub(crate) use orphan_guard::OrphanGuard;
pub(crate) use process::ServerProcess;
pub(crate) use repair::repair;
pub(crate) use stderr::StderrTail;
pub(crate) use traffic::Traffic;

/// Larger messages are refused with their size: they would only fill the memory of the sandbox.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// Larger estimates of the memory that a message takes once it is parsed are refused: a text of 16 MiB
/// can become a gigabyte of small values. About 1.2 million numbers, or 40,000 objects of ten fields.
pub const MAX_PARSED_BYTES: usize = 96 * 1024 * 1024;

/// Error codes of our transports, in place of a response that they cannot deliver. They are outside
/// of the ranges of JSON-RPC and MCP.
pub(crate) const TOO_LARGE: ErrorCode = ErrorCode(-31_001);
pub(crate) const MALFORMED: ErrorCode = ErrorCode(-31_002);
pub(crate) const NO_ROOM: ErrorCode = ErrorCode(-31_003);
