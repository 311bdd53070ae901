//! Keeps what the server learns about tools where `pml types` and `pml check` find it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_catalog::ResultShapes;
use pml_gateway::{StartError, Tool};
use pml_hosts::{CallObserver, EndedCall};
use pml_server::ToolObserver;
use pml_typegen::Shape;
use serde_json::Value;

use crate::config::Settings;
use crate::observed_calls::ObservedCalls;
use crate::tool_cache::ToolCache;

pub struct CachedTools {
    cache: ToolCache,
    shapes: Mutex<ResultShapes>,
    calls: ObservedCalls,
    saved: Mutex<Option<Instant>>,
}

/// The shortest time between two writes of how calls went.
const SAVE_INTERVAL: Duration = Duration::from_secs(10);

impl CachedTools {
    pub fn for_settings(settings: &Settings) -> Self {
        let cache = ToolCache::for_settings(settings);
        let shapes = Mutex::new(cache.shapes());
        Self {
            cache,
            shapes,
            calls: ObservedCalls::default(),
            saved: Mutex::default(),
        }
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

    fn call_ended(&self, call: &EndedCall<'_>) {
        self.calls.call_ended(call);
    }

    fn has_calls(&self) -> bool {
        let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        saved.is_none_or(|saved| saved.elapsed() >= SAVE_INTERVAL)
    }

    fn save_calls(&self) {
        if self.has_calls() {
            let now = Some(Instant::now());
            *self.saved.lock().unwrap_or_else(PoisonError::into_inner) = now;
            self.cache.save_history(&self.calls.take());
        }
    }

    fn result_schema(&self, tool: &str) -> Option<Value> {
        self.shapes().confirmed_schema(tool)
    }
}
