//! Progress notifications of tools. They do not extend a time limit.

use std::fmt;
use std::sync::Arc;

use crate::ToolId;

/// One progress notification.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The tool that is called.
    pub tool: ToolId,
    /// Units of work that are done.
    pub done: f64,
    /// Units of work in all, if the tool knows it.
    pub total: Option<f64>,
    /// The message of the tool.
    pub message: Option<String>,
}

/// Receives progress. It must not block.
pub type ProgressListener = Arc<dyn Fn(Progress) + Send + Sync>;

/// The receivers of one call's progress: that of its run, and its own.
#[derive(Clone)]
pub struct ProgressSink {
    tool: ToolId,
    receivers: Vec<ProgressListener>,
}

impl ProgressSink {
    pub(crate) fn new(tool: ToolId, receivers: Vec<ProgressListener>) -> Self {
        Self { tool, receivers }
    }

    pub(crate) fn report(&self, done: f64, total: Option<f64>, message: Option<String>) {
        for receive in &self.receivers {
            receive(Progress {
                tool: self.tool.clone(),
                done,
                total,
                message: message.clone(),
            });
        }
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgressSink")
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}
