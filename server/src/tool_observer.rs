//! What is learned about tools and outlives the server. The operator decides where it is kept.

use std::sync::Arc;

use pml_gateway::{StartError, Tool};
use pml_typegen::Shape;
use serde_json::Value;

/// Keeps what is learned about tools. Its methods may block on a disk, except
/// [`ToolObserver::result_schema`].
pub trait ToolObserver: Send + Sync {
    /// Every server was listed.
    fn tools_listed(&self, tools: &[Arc<Tool>], problems: &[(String, StartError)]);

    /// Results had these shapes.
    fn record_shapes(&self, observed: Vec<(String, Shape)>);

    /// The JSON Schema of the results that a tool has given so far, to any client: with keys that
    /// the results of several calls had, and no others.
    fn result_schema(&self, tool: &str) -> Option<Value>;
}
