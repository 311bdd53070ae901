//! The transports: stdio and streamable HTTP.

mod cors;
mod http;
mod http_gate;
mod jsonrpc;
mod stdio;
mod stdio_transport;

pub use http::{HttpOptions, serve_http};
pub use stdio::serve_stdio;
