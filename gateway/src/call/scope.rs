//! The run that calls belong to: its budget, concurrency limit and cancellation.

use std::sync::Arc;
use std::time::Duration;

use pml_policy::authorize::Requester;
use pml_units::HumanDuration;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::progress::{ProgressListener, ProgressSink};
use crate::ToolId;
use crate::policy::budget::{BudgetConfig, RunBudget};

/// Limits of a run. A budget can only lower the operator's.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunLimits {
    /// Maximum number of tool calls.
    pub calls: Option<u32>,
    /// Maximum number of concurrent tool calls.
    pub concurrent: Option<u32>,
    /// Time limit of one call, from its dispatch.
    pub tool_timeout: Option<Duration>,
    /// Time limit of all calls together.
    pub tool_time: Option<Duration>,
}

const DEFAULT_CONCURRENT: u32 = 16;

/// A run. Clones are the same run. When the last one is dropped or [`RunScope::end`] is called, its
/// calls are cancelled, also at their servers.
#[derive(Clone)]
pub struct RunScope(Arc<Inner>);

struct Inner {
    requester: Arc<Requester>,
    budget: RunBudget,
    permits: Semaphore,
    tool_timeout: Option<Duration>,
    ended: CancellationToken,
    progress: Option<ProgressListener>,
    _end_with_last_clone: DropGuard,
}

impl RunScope {
    pub(crate) fn new(
        requester: Arc<Requester>,
        operator: &BudgetConfig,
        limits: RunLimits,
        progress: Option<ProgressListener>,
    ) -> Self {
        let budget = operator
            .clone()
            .lowered(limits.calls, limits.tool_time.map(whole_millis));
        let concurrent = limits.concurrent.unwrap_or(DEFAULT_CONCURRENT).max(1);
        let ended = CancellationToken::new();
        Self(Arc::new(Inner {
            requester,
            budget: RunBudget::new(&budget),
            permits: Semaphore::new(concurrent as usize),
            tool_timeout: limits.tool_timeout,
            _end_with_last_clone: ended.clone().drop_guard(),
            ended,
            progress,
        }))
    }

    /// Cancels every call of the run, and refuses new ones.
    pub fn end(&self) {
        self.0.ended.cancel();
    }

    /// The number of calls so far.
    pub fn calls(&self) -> u32 {
        self.0.budget.calls()
    }

    /// Who runs it.
    pub(crate) fn requester(&self) -> &Requester {
        &self.0.requester
    }

    pub(crate) fn budget(&self) -> &RunBudget {
        &self.0.budget
    }

    pub(crate) fn permits(&self) -> &Semaphore {
        &self.0.permits
    }

    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.0.ended
    }

    pub(crate) fn tool_timeout(&self) -> Option<Duration> {
        self.0.tool_timeout
    }

    pub(crate) fn progress(
        &self,
        tool: &ToolId,
        of_call: Option<&ProgressListener>,
    ) -> Option<ProgressSink> {
        let receivers: Vec<_> = self.0.progress.iter().chain(of_call).cloned().collect();
        (!receivers.is_empty()).then(|| ProgressSink::new(tool.clone(), receivers))
    }
}

fn whole_millis(time: Duration) -> HumanDuration {
    HumanDuration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
