//! What is learned about tools and outlives the server: the operator decides where it is kept.

use std::sync::Arc;

use pml_gateway::{StartError, Tool};
use pml_typegen::Shape;
use serde_json::Value;

/// Keeps what was learned, and knows what was learned before. May wait for a disk, except for
/// [`Notebook::result_schema`].
pub trait Notebook: Send + Sync {
    /// Every server was asked for its tools.
    fn tools_listed(&self, tools: &[Arc<Tool>], problems: &[(String, StartError)]);

    /// Results looked like this.
    fn results_seen(&self, observed: Vec<(String, Shape)>);

    /// A JSON Schema of what a tool gave so far.
    fn result_schema(&self, tool: &str) -> Option<Value>;
}
