//! The import of other clients' configurations, for `pml init`, and new servers, for `pml add`.
//!
//! [`find`] reads every file that the clients keep MCP servers in, [`merge`] makes one list of them
//! in which servers of the same name are kept apart, [`write_config`] writes that to a `.mcp.json`,
//! and [`Snippet::new`] says how to point a client at `pml serve`. No file of a client is changed.
//! [`add_server`] adds one server to a `.mcp.json`, [`remove_server`] removes one.
//!
//! ```no_run
//! use pml_client_import::{ClientDirs, find, merge};
//!
//! let dirs = ClientDirs::current().expect("a home folder");
//! for server in merge(find(&dirs, None)) {
//!     println!("{}", server.name);
//! }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod add;
mod client;
mod client_dirs;
mod codex;
mod entry;
mod error;
mod find;
mod merge;
mod remove;
mod snippet;
mod variables;
mod write;

pub use add::{add_server, trust_annotations};
pub use client::{Client, ConfigFile, Scope};
pub use client_dirs::ClientDirs;
pub use error::ImportError;
pub use find::{Found, FoundServer, Problem, Source, find};
pub use merge::{MergedServer, merge};
pub use remove::remove_server;
pub use snippet::Snippet;
pub use write::write_config;
