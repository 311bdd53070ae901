//! What stands behind `searchTools`, `describeTool` and `callTool`.

use std::future::Future;
use std::pin::Pin;

use pml_ops::{Answer, Failure, Offer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::watch;

pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool as a search finds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolHit {
    /// `server:tool`
    pub id: String,
    pub server: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Box<RawValue>>,
    /// From 0 to 1; 1 is certain.
    pub score: f64,
}

/// The tools of a run. The runtime bounds how many requests there are, how many run at once and
/// how long each may take; whoever implements this answers them.
///
/// Dropping a future cancels the request: that is what happens when a run ends.
pub trait ToolHost: Send + Sync {
    /// At most `limit` tools that fit the words, best first, none scored under `threshold`.
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: u32,
        threshold: Option<f64>,
    ) -> HostFuture<'a, Result<Vec<ToolHit>, Failure>>;

    /// Everything that is known about one tool, as JSON.
    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer>;

    /// What a server has besides tools: resources and prompts, as JSON.
    fn offer<'a>(&'a self, server: &'a str, _offer: &'a Offer) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            Err(Failure::new(
                "unknown",
                format!(
                    "there is no server \"{server}\"; add it to .mcp.json in the working folder"
                ),
            ))
        })
    }

    /// What a test file says and asks besides tools, and where the clock of a world of its own
    /// stands. Only whoever runs tests, records or replays understands it.
    fn harness<'a>(&'a self, _message: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(async { Err(Failure::new("denied", "this run is not a test")) })
    }

    /// Whether a call may be made: asked before it waits for its turn, and on nobody's clock. A
    /// host that asks a person answers when the person has.
    fn admit<'a>(
        &'a self,
        _tool: &'a str,
        _args: &'a RawValue,
    ) -> HostFuture<'a, Result<(), Failure>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Tells when the run begins and ends to wait for a person; its time stands still meanwhile.
    fn pauses(&self) -> Option<watch::Receiver<bool>> {
        None
    }

    /// Keeps a value for later scripts of the same session.
    fn store<'a>(&'a self, _key: &'a str, _value: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(std::future::ready(Err(nothing_is_kept())))
    }

    /// What stands under a key or a handle, as a list of one; an empty list if there is nothing.
    fn load<'a>(&'a self, _key: &'a str) -> HostFuture<'a, Answer> {
        Box::pin(std::future::ready(Err(nothing_is_kept())))
    }

    /// Calls a tool with an object of arguments. The value is already unwrapped: what
    /// `tools.server.tool()` gives the script.
    fn call<'a>(&'a self, tool: &'a str, args: &'a RawValue) -> HostFuture<'a, Answer>;
}

fn nothing_is_kept() -> Failure {
    Failure::new("denied", "nothing is kept here from script to script")
}
