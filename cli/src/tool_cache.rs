//! The tools of a configuration as they were last listed, and the shapes of their results, for
//! `pml types` and `pml check`.
//!
//! The cache is best effort. If its folder cannot be read or written, no error is reported, and the
//! servers are listed again next time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pml_catalog::{
    Catalog, CatalogStore, CatalogTool, ConfigFingerprint, ListingStatus, ResultShapes,
};
use pml_gateway::{Config, StartError, Tool};
use pml_typegen::Shape;

/// The tool cache of one configuration.
pub struct ToolCache {
    /// `None` for a configuration without a file, or a user without a home folder.
    place: Option<(CatalogStore, ConfigFingerprint)>,
    /// The servers of the configuration, and whether they are disabled.
    servers: BTreeMap<String, bool>,
}

impl ToolCache {
    pub fn for_config(config: &Config) -> Self {
        let place = || {
            let store = CatalogStore::new(pml_files::data_dir()?.join("catalog"));
            let fingerprint = ConfigFingerprint::read(config.file.as_deref()?).ok()?;
            Some((store, fingerprint))
        };
        Self {
            place: place(),
            servers: config
                .servers
                .iter()
                .map(|(name, server)| (name.clone(), server.disabled))
                .collect(),
        }
    }

    /// The tools, if they were listed since the configuration was last edited.
    pub fn catalog(&self) -> Option<Catalog> {
        let (store, fingerprint) = self.place.as_ref()?;
        store.catalog(fingerprint).ok()?
    }

    /// Saves the tools of all servers, which were listed just now, and returns them as a catalog.
    /// `problems` are the servers that could not be listed.
    pub fn save_tools(&self, tools: &[Arc<Tool>], problems: &[(String, StartError)]) -> Catalog {
        let status = |name: &str, disabled: bool| match disabled {
            true => ListingStatus::Disabled,
            false if problems.iter().any(|(silent, _)| silent == name) => ListingStatus::Silent,
            false => ListingStatus::Listed,
        };
        let servers = self
            .servers
            .iter()
            .map(|(name, disabled)| (name.clone(), status(name, *disabled)))
            .collect();
        let tools: Vec<CatalogTool> = tools.iter().map(|tool| catalog_tool(tool)).collect();
        let content = self
            .place
            .as_ref()
            .map_or("", |(_, fingerprint)| fingerprint.content.as_str());
        let catalog = Catalog::new(content, unix_seconds(), servers, &tools);
        if let Some((store, fingerprint)) = &self.place {
            let _ = store.save_catalog(fingerprint, &catalog);
        }
        catalog
    }

    /// The shapes of results that earlier runs observed.
    pub fn shapes(&self) -> ResultShapes {
        let place = self.place.as_ref();
        place
            .and_then(|(store, fingerprint)| store.shapes(fingerprint).ok())
            .unwrap_or_default()
    }

    /// Adds observed shapes to those of earlier runs.
    pub fn save_shapes(&self, observed: Vec<(String, Shape)>) {
        let Some((store, fingerprint)) = &self.place else {
            return;
        };
        let mut shapes = self.shapes();
        let mut changed = false;
        for (id, shape) in observed {
            changed |= shapes.add(&id, shape);
        }
        if changed {
            let _ = store.save_shapes(fingerprint, &shapes);
        }
    }
}

fn catalog_tool(tool: &Tool) -> CatalogTool {
    CatalogTool {
        id: tool.id.to_string(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
    }
}

/// Seconds since 1970.
pub fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
