//! What is learned about tools and outlives the server. The operator decides where it is kept.

use std::sync::Arc;

use pml_gateway::{StartError, Tool};
use pml_hosts::{CallObserver, EndedCall};
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

    /// Whether calls ended that [`ToolObserver::save_calls`] would keep now.
    fn has_calls(&self) -> bool;

    /// Keeps how calls went.
    fn save_calls(&self);

    /// The JSON Schema of the results that a tool has given so far, to any client: with keys that
    /// the results of several calls had, and no others.
    fn result_schema(&self, tool: &str) -> Option<Value>;
}
