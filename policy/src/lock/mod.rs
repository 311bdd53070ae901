//! `pml.lock`: the definitions of tools that somebody has looked at.
//!
//! The file pins, for each server, its identity (the command line or the address, as the configuration
//! writes it) and its instructions, and for each tool everything that its server says about it. It only
//! takes away: what it does not hold is not called, and nothing becomes callable by being in it.
//!
//! - [`LockFile`]: the file, its checks, and what is pinned.
//! - [`changes`](LockFile::changes): how the servers differ from it, and what that means for callers.
//! - [`Quarantine`]: why a tool is not called.

mod changes;
mod definition;
mod error;
mod file;
mod quarantine;
mod schema_changes;
mod unique_keys;
mod version;

pub use changes::{Change, ChangeKind, Detail, Impact};
pub use definition::{Digest, ServerIdentity, ToolDefinition, sorted};
pub use error::LockError;
pub use file::{FILE_NAME, LockFile, ObservedServer, PreviousVersion, ServerPin, ToolPin};
pub use quarantine::Quarantine;
pub use schema_changes::breaking_changes;
pub use version::{Version, VersionRequest};
