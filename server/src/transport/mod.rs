//! How clients reach the server: over standard input and output, or over HTTP.

mod http;
mod http_gate;
mod lines;
mod origins;
mod stdio;
mod wire;

pub use http::{HttpOptions, serve_http};
pub use stdio::serve_stdio;
