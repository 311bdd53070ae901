//! The servers a person already has: found in the configurations of other MCP clients.
//!
//! [`find`] looks in every place the clients use, [`merge`] makes one list of it in which no
//! server is lost to another of the same name, [`write_config`] puts that into a `.mcp.json`, and
//! [`Snippet::new`] says how to point a client at `pml serve`. Nothing here changes a client's
//! own files.

mod client;
mod codex;
mod entry;
mod error;
mod find;
mod home;
mod merge;
mod snippet;
mod variables;
mod write;

pub use client::{Client, Place, Scope};
pub use error::DiscoverError;
pub use find::{Found, FoundServer, Problem, Source, find};
pub use home::{Home, Platform};
pub use merge::{MergedServer, merge};
pub use snippet::Snippet;
pub use write::write_config;
