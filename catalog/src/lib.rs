//! The tool cache of a configuration, kept between runs: the tools' schemas, so that a script can be
//! checked without starting a server, the observed shapes of results, for tools that do not declare
//! them, and how calls went, for estimates.
//!
//! The files are in the user's data folder, three for each configuration. No run depends on them: what is
//! missing or damaged is collected again.
//!
//! ```no_run
//! use std::path::Path;
//! use pml_catalog::{CatalogStore, ConfigFingerprint};
//!
//! let store = CatalogStore::new("cache/tools");
//! let config = ConfigFingerprint::read(Path::new(".mcp.json"))?;
//! if let Some(catalog) = store.catalog(&config)? {
//!     println!("{} tools", catalog.ids().count());
//! }
//! # Ok::<(), pml_catalog::CatalogError>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod call_history;
mod catalog;
mod catalog_store;
mod error;
mod result_shapes;
mod trace_store;

pub use call_history::{CallHistory, CallTimes};
pub use catalog::{Catalog, CatalogTool, ListingStatus};
pub use catalog_store::{CatalogStore, ConfigFingerprint};
pub use error::CatalogError;
pub use result_shapes::ResultShapes;
pub use trace_store::TraceStore;
