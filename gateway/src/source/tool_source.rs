//! The trait of a source.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::call::{FailedAttempt, ToolCall};
use crate::config::ServerConfig;
use crate::server::{ServerContext, ServerCredentials, ToolsChanged};
use crate::transport::{Login, StderrTail};

/// An open source of tools, shared by all runs.
#[async_trait]
pub trait ToolSource: Send + Sync {
    /// What the source says of itself.
    fn info(&self) -> SourceInfo;

    /// Its tools, each as an element of MCP's `tools/list`.
    ///
    /// # Errors
    /// A sentence with the reason.
    async fn list(&self) -> Result<Vec<Value>, String>;

    /// Sends one call and waits for its answer, for at most the limit of the call.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call.
    async fn call(&self, call: ToolCall<'_>) -> Result<Value, FailedAttempt>;

    /// The time of a round trip; `None` if the source does not answer within `timeout`.
    async fn ping(&self, timeout: Duration) -> Option<Duration>;

    /// Whether it has ended and must be opened again.
    fn closed(&self) -> bool;

    /// Ends it, and its process if it has one. Returns when the process is gone.
    async fn close(&self);

    /// Irregularities that do not keep it from working, for `pml doctor`.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a source says of itself.
#[derive(Debug, Clone, Default)]
pub struct SourceInfo {
    /// The protocol and its revision.
    pub protocol: String,
    /// Its name and version.
    pub implementation: Option<String>,
    /// Its display name.
    pub title: Option<String>,
    /// How it asks to be used.
    pub instructions: Option<String>,
}

/// What a source is opened with.
pub(crate) struct Opening<'a> {
    pub config: &'a ServerConfig,
    pub context: &'a ServerContext,
    pub login: Option<Login>,
    /// The secrets that the headers of a remote server name.
    pub credentials: &'a ServerCredentials,
    /// Hears from the source that its tools changed.
    pub changed: Arc<ToolsChanged>,
    /// Gets the standard error of a process. The caller quotes it after a timeout.
    pub stderr: &'a StderrTail,
}
