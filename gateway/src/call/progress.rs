//! What a tool tells while it works. It is reported, and extends no time limit.

use std::fmt;
use std::sync::Arc;

use crate::ToolId;

/// One report of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    pub tool: ToolId,
    pub done: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

type Receiver = Arc<dyn Fn(Progress) + Send + Sync>;

/// Where the reports about one call go.
#[derive(Clone)]
pub struct ProgressSink {
    tool: ToolId,
    receiver: Receiver,
}

impl ProgressSink {
    pub(crate) fn new(tool: ToolId, receiver: Receiver) -> Self {
        Self { tool, receiver }
    }

    pub(crate) fn report(&self, done: f64, total: Option<f64>, message: Option<String>) {
        (self.receiver)(Progress {
            tool: self.tool.clone(),
            done,
            total,
            message,
        });
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgressSink")
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}
