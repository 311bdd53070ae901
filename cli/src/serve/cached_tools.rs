//! Keeps what the server learns about tools where `pml types` and `pml check` find it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_catalog::ResultShapes;
use pml_gateway::{StartError, Tool};
use pml_hosts::{CallObserver, EndedCall, RunCalls};
use pml_protocol::RunContext;
use pml_server::ToolObserver;
use pml_typegen::Shape;
use serde_json::Value;

use crate::config::Settings;
use crate::learn::{ServedPlans, learned};
use crate::observed_calls::ObservedCalls;
use crate::tool_cache::ToolCache;

pub struct CachedTools {
    cache: ToolCache,
    shapes: Mutex<ResultShapes>,
    calls: ObservedCalls,
    saved: Mutex<Option<Instant>>,
    runs: Arc<RunCalls>,
    plans: ServedPlans,
    /// The tools as they were last listed.
    tools: Mutex<Vec<pml_learn::Tool>>,
    /// When models were made last, and the size of the traces then.
    modelled: Mutex<Option<(Instant, usize)>>,
}

/// The shortest time between two writes of how calls went.
const SAVE_INTERVAL: Duration = Duration::from_secs(10);
/// The shortest time between two models of the same traces.
const MODEL_INTERVAL: Duration = Duration::from_secs(30);

impl CachedTools {
    pub fn for_settings(settings: &Settings) -> Self {
        let cache = ToolCache::for_settings(settings);
        let shapes = Mutex::new(cache.shapes());
        Self {
            cache,
            shapes,
            calls: ObservedCalls::default(),
            saved: Mutex::default(),
            runs: Arc::default(),
            plans: ServedPlans::default(),
            tools: Mutex::default(),
            modelled: Mutex::default(),
        }
    }

    fn shapes(&self) -> MutexGuard<'_, ResultShapes> {
        // A shape is widened in one step.
        self.shapes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks a value that is replaced in one step.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CachedTools {
    fn is_due(&self) -> bool {
        lock(&self.saved).is_none_or(|saved| saved.elapsed() >= SAVE_INTERVAL)
    }

    /// Makes a model of the traces of each principal, unless that was done a short time ago or hardly
    /// anything was added. Takes seconds where there are thousands of traces.
    fn make_models(&self) {
        if !self.cache.learns() {
            return;
        }
        let last = {
            let mut modelled = lock(&self.modelled);
            let is_recent = |(at, _): &(Instant, usize)| at.elapsed() < MODEL_INTERVAL;
            if modelled.as_ref().is_some_and(is_recent) {
                return;
            }
            // Nothing else reads the traces until this is done.
            let last = modelled.map(|(_, count)| count);
            *modelled = Some((Instant::now(), last.unwrap_or_default()));
            last
        };
        let traces = learned::parse(&self.cache.traces().unwrap_or_default());
        // Fewer: they were forgotten, or the older half of them was deleted.
        let is_new = |count: usize| traces.len() > count + count / 10 || traces.len() < count;
        if !last.is_none_or(is_new) {
            return;
        }
        *lock(&self.modelled) = Some((Instant::now(), traces.len()));
        let tools = lock(&self.tools).clone();
        let owners: BTreeSet<(String, String)> = traces
            .iter()
            .map(|trace| (trace.tenant.clone(), trace.principal.clone()))
            .collect();
        self.plans.retain(&owners);
        for owner in owners {
            if !self.plans.has_room_for(&owner) {
                continue;
            }
            let episodes = learned::episodes(&traces, &owner.0, &owner.1);
            let episodes = learned::of_known_tools(episodes, &tools);
            if !episodes.is_empty() {
                self.plans.replace(owner, learned::model(&tools, &episodes));
            }
        }
    }
}

impl ToolObserver for CachedTools {
    fn tools_listed(&self, tools: &[Arc<Tool>], problems: &[(String, StartError)]) {
        self.cache.save_tools(tools, problems);
        *lock(&self.tools) = self.cache.learned_tools();
        self.make_models();
    }

    fn runs(&self) -> Option<&Arc<RunCalls>> {
        self.cache.learns().then_some(&self.runs)
    }

    fn plan_for(
        &self,
        run: &RunContext,
        query: &str,
        visible: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        self.plans.plan(run, query, visible)
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
        self.is_due() || self.runs.has_ended()
    }

    fn save_calls(&self) {
        let ended = self.runs.take_ended();
        if !ended.is_empty() {
            self.cache.save_traces(&ended, None, None);
            self.make_models();
        }
        if self.is_due() {
            *lock(&self.saved) = Some(Instant::now());
            self.cache.save_history(&self.calls.take());
        }
    }

    fn result_schema(&self, tool: &str) -> Option<Value> {
        self.shapes().confirmed_schema(tool)
    }
}
