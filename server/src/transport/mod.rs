//! The transports: stdio and streamable HTTP.

mod approval_replies;
mod authentication;
mod connections;
mod cors;
mod guarded_body;
mod http;
mod http_gate;
mod jsonrpc;
mod listen;
mod request_memory;
mod session_uses;
mod status_pages;
mod stdio;
mod stdio_transport;
mod tokens;

pub use authentication::Authentication;
pub use http::{HttpOptions, serve_http};
pub use listen::ListenAddress;
pub use status_pages::serve_status;
pub use stdio::serve_stdio;
pub use tokens::BearerTokens;
