//! What is learned about tools and outlives the server. The operator decides where it is kept.

use std::sync::Arc;

use pml_gateway::{StartError, Tool};
use pml_hosts::{CallObserver, EndedCall, RunCalls, ScriptObserver};
use pml_protocol::RunContext;
use pml_typegen::Shape;
use serde_json::Value;

/// Passes the calls of runs on.
pub struct TimedCalls(pub Arc<dyn ToolObserver>);

impl CallObserver for TimedCalls {
    fn call_ended(&self, call: &EndedCall<'_>) {
        self.0.call_ended(call);
    }

    fn call_succeeded(&self, _: &str, _: Option<&Value>) {}
}

/// Keeps what is learned about tools. Its methods may block on a disk, except
/// [`ToolObserver::result_schema`] and those that say so.
pub trait ToolObserver: Send + Sync {
    /// Every server was listed.
    fn tools_listed(&self, tools: &[Arc<Tool>], problems: &[(String, StartError)]);

    /// Results had these shapes.
    fn record_shapes(&self, observed: Vec<(String, Shape)>);

    /// A call ended. Must not block.
    fn call_ended(&self, call: &EndedCall<'_>);

    /// Where the searches and calls of runs are collected; `None` if runs leave no trace.
    fn runs(&self) -> Option<&Arc<RunCalls>>;

    /// A compact plan for a search of the principal of `run`, if one is likely enough and all its tools are
    /// visible. Must not block for long.
    fn plan_for(
        &self,
        run: &RunContext,
        query: &str,
        visible: &dyn Fn(&str) -> bool,
    ) -> Option<String>;

    /// Whether calls ended that [`ToolObserver::save_calls`] would keep now.
    fn has_calls(&self) -> bool;

    /// Keeps how calls went.
    fn save_calls(&self);

    /// The JSON Schema of the results that a tool has given so far, to any client: with keys that
    /// the results of several calls had, and no others.
    fn result_schema(&self, tool: &str) -> Option<Value>;
}

impl dyn ToolObserver {
    /// What is notified of the searches and calls of scripts.
    pub(crate) fn script_observer(&self) -> Option<Arc<dyn ScriptObserver>> {
        self.runs()
            .map(|runs| runs.clone() as Arc<dyn ScriptObserver>)
    }

    /// A run begins for a client that has searched for something before.
    pub(crate) fn run_begins(&self, run: &RunContext, query: Option<&str>) {
        if let (Some(runs), Some(query)) = (self.runs(), query) {
            runs.searched(run, query);
        }
    }

    /// A run has ended.
    pub(crate) fn run_ended(&self, run: &RunContext, ok: bool) {
        if let Some(runs) = self.runs() {
            runs.ended(run.id(), ok);
        }
    }
}
