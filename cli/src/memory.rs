//! What pml remembers about the tools of a configuration, for `pml types` and `pml check`.
//!
//! Remembering is a convenience: a folder that cannot be written is no reason to fail or to
//! complain, the servers are asked again next time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pml_catalog::{Catalog, KnownTool, ServerState, Shapes, Source, Store};
use pml_gateway::{Config, StartError, Tool};
use pml_typegen::Shape;

/// The memory of one configuration.
pub struct Memory {
    /// Where it is kept; a configuration without a file, or a user without a home, has no place.
    place: Option<(Store, Source)>,
    /// The servers of the configuration, and whether they are disabled.
    servers: BTreeMap<String, bool>,
}

impl Memory {
    pub fn of(config: &Config) -> Self {
        let place = || {
            let store = Store::new(pml_files::data_dir()?.join("catalog"));
            let source = Source::read(config.file.as_deref()?).ok()?;
            Some((store, source))
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

    /// The tools of the servers, if they were asked since the configuration was last edited.
    pub fn catalog(&self) -> Option<Catalog> {
        let (store, source) = self.place.as_ref()?;
        store.catalog(source).ok()?
    }

    /// Keeps the tools of all servers that were asked just now, and gives them back as they are
    /// kept.
    pub fn keep_tools(&self, tools: &[Arc<Tool>], problems: &[(String, StartError)]) -> Catalog {
        let state = |name: &str, disabled: bool| match disabled {
            true => ServerState::Disabled,
            false if problems.iter().any(|(silent, _)| silent == name) => ServerState::Silent,
            false => ServerState::Listed,
        };
        let servers = self
            .servers
            .iter()
            .map(|(name, disabled)| (name.clone(), state(name, *disabled)))
            .collect();
        let known: Vec<KnownTool> = tools.iter().map(|tool| known(tool)).collect();
        let content = self
            .place
            .as_ref()
            .map_or("", |(_, source)| source.content.as_str());
        let catalog = Catalog::new(content, now(), servers, &known);
        if let Some((store, source)) = &self.place {
            let _ = store.keep_catalog(source, &catalog);
        }
        catalog
    }

    /// What results looked like in earlier runs.
    pub fn shapes(&self) -> Shapes {
        let shapes = |(store, source): &(Store, Source)| store.shapes(source).ok();
        self.place.as_ref().and_then(shapes).unwrap_or_default()
    }

    pub fn keep_shapes(&self, observed: Vec<(String, Shape)>) {
        let Some((store, source)) = &self.place else {
            return;
        };
        let mut shapes = self.shapes();
        let mut news = false;
        for (id, shape) in observed {
            news |= shapes.add(&id, shape);
        }
        if news {
            let _ = store.keep_shapes(source, &shapes);
        }
    }
}

fn known(tool: &Tool) -> KnownTool {
    KnownTool {
        id: tool.id.to_string(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
    }
}

/// Seconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
