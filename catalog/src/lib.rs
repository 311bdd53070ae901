//! What is known about the tools of a configuration between runs: their schemas, so that a script
//! can be checked without starting a server, and the shapes of their results, for tools that do
//! not declare them.
//!
//! It lies below the user's data folder, a pair of files for each configuration. Nothing here is
//! needed to run a script: whatever is missing or damaged is learned again.

mod catalog;
mod error;
mod shapes;
mod store;

pub use catalog::{Catalog, KnownTool, ServerState};
pub use error::CatalogError;
pub use shapes::Shapes;
pub use store::{Source, Store};
