//! The MCP server that AI clients talk to: three tools in front of everything the gateway has.
//!
//! What leaves is made of [`reply::Reply`] and [`notices::Notice`], and those are made of
//! [`pml_scrub::Scrubbed`] values: there is no other way to say something to a client.

mod approval;
mod brief;
mod error;
mod guests;
mod handler;
mod house;
pub mod log;
mod notebook;
mod notices;
mod reply;
mod tools;
mod transport;
mod work;

pub use error::ServeError;
pub use house::{House, HouseOptions};
pub use notebook::Notebook;
pub use transport::{HttpOptions, serve_http, serve_stdio};
