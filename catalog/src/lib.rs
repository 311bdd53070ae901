//! The tool cache of a configuration, kept between runs: the tools' schemas, so that a script can be
//! checked without starting a server, and the observed shapes of results, for tools that do not declare
//! them.
//!
//! The files are in the user's data folder, two for each configuration. No run depends on them: what is
//! missing or damaged is collected again.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod catalog;
mod catalog_store;
mod error;
mod result_shapes;

pub use catalog::{Catalog, CatalogTool, ListingStatus};
pub use catalog_store::{CatalogStore, ConfigFingerprint};
pub use error::CatalogError;
pub use result_shapes::ResultShapes;

// Old names, until their users have moved.
#[doc(hidden)]
pub use {
    CatalogStore as Store, CatalogTool as KnownTool, ConfigFingerprint as Source,
    ListingStatus as ServerState, ResultShapes as Shapes,
};

#[doc(hidden)]
#[allow(missing_docs)]
impl Catalog {
    pub fn at(&self) -> u64 {
        self.listed_at()
    }
}

#[doc(hidden)]
#[allow(missing_docs)]
impl CatalogStore {
    pub fn keep_catalog(
        &self,
        config: &ConfigFingerprint,
        catalog: &Catalog,
    ) -> Result<(), CatalogError> {
        self.save_catalog(config, catalog)
    }

    pub fn keep_shapes(
        &self,
        config: &ConfigFingerprint,
        shapes: &ResultShapes,
    ) -> Result<(), CatalogError> {
        self.save_shapes(config, shapes)
    }
}
