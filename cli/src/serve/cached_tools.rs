//! Keeps what the server learns about tools where `pml types` and `pml check` find it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pml_catalog::ResultShapes;
use pml_gateway::{StartError, Tool};
use pml_server::ToolObserver;
use pml_typegen::Shape;
use serde_json::Value;

use crate::config::Settings;
use crate::tool_cache::ToolCache;

pub struct CachedTools {
    cache: ToolCache,
    shapes: Mutex<ResultShapes>,
}

impl CachedTools {
    pub fn for_settings(settings: &Settings) -> Self {
        let cache = ToolCache::for_settings(settings);
        let shapes = Mutex::new(cache.shapes());
        Self { cache, shapes }
    }

    fn shapes(&self) -> MutexGuard<'_, ResultShapes> {
        // A shape is widened in one step.
        self.shapes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolObserver for CachedTools {
    fn tools_listed(&self, tools: &[Arc<Tool>], problems: &[(String, StartError)]) {
        self.cache.save_tools(tools, problems);
    }

    fn record_shapes(&self, observed: Vec<(String, Shape)>) {
        let observed = self.cache.scrub_shapes(observed);
        let mut shapes = self.shapes();
        for (id, shape) in &observed {
            shapes.add(id, shape.clone());
        }
        drop(shapes);
        self.cache.save_shapes(observed);
    }

    fn result_schema(&self, tool: &str) -> Option<Value> {
        self.shapes().confirmed_schema(tool)
    }
}
