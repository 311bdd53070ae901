//! The tools of a configuration as they were last listed, and the shapes of their results, for
//! `pml types` and `pml check`.
//!
//! The cache is best effort. If its folder cannot be read or written, no error is reported, and the
//! servers are listed again next time.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use pml_catalog::{
    CallHistory, Catalog, CatalogError, CatalogStore, CatalogTool, ConfigFingerprint,
    ListingStatus, ResultShapes, TraceStore,
};
use pml_gateway::{Gateway, StartError, Tool};
use pml_hosts::CallsOfRun;
use pml_learn::Trace;
use pml_learn::evaluate::fields;
use pml_scrub::{ScrubConfig, Scrubber};
use pml_typegen::Shape;

use crate::capability;
use crate::config::{self, Settings};
use crate::learn::traces::trace;

/// The tool cache of one configuration.
pub struct ToolCache {
    /// `None` for a configuration without a file, or a user without a home folder.
    place: Option<(CatalogStore, ConfigFingerprint)>,
    /// The servers of the configuration, and whether they are disabled.
    servers: BTreeMap<String, bool>,
    scrub: ScrubConfig,
    /// Whether runs leave traces.
    learns: bool,
    /// Made when the first shape is to be kept; `None` for rules that cannot be used.
    scrubber: OnceLock<Option<Scrubber>>,
}

impl ToolCache {
    pub fn for_settings(settings: &Settings) -> Self {
        let config = &settings.servers;
        let place = || {
            // The tools that a token permits are not all tools.
            if capability::is_given() {
                return None;
            }
            let store = CatalogStore::new(pml_files::data_dir()?.join("catalog"));
            let file = config.file.as_deref()?;
            let mut text = std::fs::read(file).ok()?;
            // What the lock file refuses is described in another way.
            if let Some(Ok(lock)) = config::lock_file(config).map(std::fs::read) {
                text.extend(lock);
            }
            // What the policy file denies is not listed.
            let policy = config.section("policy").unwrap_or_default();
            if let Some(Ok(policy)) = config.policy_path(&policy).map(std::fs::read) {
                text.extend(policy);
            }
            let fingerprint = ConfigFingerprint::new(file, &text);
            Some((store, fingerprint))
        };
        Self {
            place: place(),
            servers: config
                .servers
                .iter()
                .map(|(name, server)| (name.clone(), server.disabled))
                .collect(),
            scrub: settings.scrub.clone(),
            learns: settings.learn.0,
            scrubber: OnceLock::new(),
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

    /// What may be kept of observed shapes, as every client of this configuration can read it: no
    /// shape of a tool with scrubbing rules of its own, and no key in which the scrubber finds
    /// private data.
    pub fn scrub_shapes(&self, observed: Vec<(String, Shape)>) -> Vec<(String, Shape)> {
        if observed.is_empty() {
            return observed;
        }
        let Some(scrubber) = self.scrubber() else {
            return Vec::new();
        };
        let is_private = |key: &str| !scrubber.find(key, None).is_empty();
        observed
            .into_iter()
            .filter(|(tool, _)| !scrubber.has_rules_for(tool))
            .map(|(tool, mut shape)| {
                shape.hide_keys(&is_private);
                (tool, shape)
            })
            .collect()
    }

    fn scrubber(&self) -> Option<&Scrubber> {
        let scrubber = self
            .scrubber
            .get_or_init(|| Scrubber::new(&self.scrub).ok());
        scrubber.as_ref()
    }

    /// Whether runs leave traces.
    pub fn learns(&self) -> bool {
        self.learns
    }

    /// The traces of earlier runs, as lines.
    pub fn traces(&self) -> Result<Vec<String>, CatalogError> {
        match self.trace_store() {
            Some((store, fingerprint)) => store.lines(fingerprint),
            None => Ok(Vec::new()),
        }
    }

    /// Deletes the traces for which `forget` says so, and those that cannot be read. Returns how many.
    pub fn forget_traces(&self, forget: impl Fn(&Trace) -> bool) -> Result<usize, CatalogError> {
        let keep = |line: &str| Trace::parse(line).is_some_and(|trace| !forget(&trace));
        match self.trace_store() {
            Some((store, fingerprint)) => store.retain(fingerprint, keep),
            None => Ok(0),
        }
    }

    /// Adds the traces of runs to those of earlier ones. `about` is the intent of runs that searched for
    /// nothing.
    pub fn save_traces(&self, runs: &[CallsOfRun], gateway: Option<&Gateway>, about: Option<&str>) {
        if !self.learns || runs.is_empty() {
            return;
        }
        if let (Some((store, fingerprint)), Some(scrubber)) = (self.trace_store(), self.scrubber())
        {
            let line = |run: &CallsOfRun| trace(run, about, gateway, scrubber).line();
            let lines: Vec<String> = runs.iter().map(line).collect();
            let _ = store.append(fingerprint, &lines);
        }
    }

    fn trace_store(&self) -> Option<(TraceStore, &ConfigFingerprint)> {
        let (_, fingerprint) = self.place.as_ref()?;
        let folder = pml_files::data_dir()?.join("learn");
        Some((TraceStore::new(folder), fingerprint))
    }

    /// The tools as they were last listed, for predictions. Whether one only reads is not known.
    pub fn learned_tools(&self) -> Vec<pml_learn::Tool> {
        let catalog = self.catalog();
        let tools = catalog.iter().flat_map(|catalog| catalog.tools());
        let learned = tools.map(|tool| {
            let (server, name) = tool.id.split_once(':').unwrap_or(("", &tool.id));
            let output = tool.output_schema.as_ref();
            pml_learn::Tool {
                server: server.to_owned(),
                name: name.to_owned(),
                description: tool.description.clone(),
                inputs: fields(&tool.input_schema),
                outputs: output.map(fields).unwrap_or_default(),
                read: false,
                id: tool.id.clone(),
            }
        });
        learned.collect()
    }

    /// How calls of earlier runs went.
    pub fn history(&self) -> CallHistory {
        let place = self.place.as_ref();
        place
            .and_then(|(store, fingerprint)| store.history(fingerprint).ok())
            .unwrap_or_default()
    }

    /// Adds calls to those of earlier runs.
    pub fn save_history(&self, observed: &CallHistory) {
        if let Some((store, fingerprint)) = self.place.as_ref().filter(|_| !observed.is_empty()) {
            let mut history = self.history();
            history.merge(observed);
            let _ = store.save_history(fingerprint, &history);
        }
    }

    /// Adds shapes from [`ToolCache::scrub_shapes`] to those of earlier runs.
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
        open_world: tool
            .annotations
            .as_ref()
            .and_then(|known| known.get("openWorldHint")?.as_bool()),
    }
}

/// Seconds since 1970.
pub fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
