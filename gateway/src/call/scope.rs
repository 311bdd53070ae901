//! The run that calls belong to: its budget, its share of concurrency, and its end.

use std::sync::Arc;
use std::time::Duration;

use pml_units::HumanDuration;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::progress::{Progress, ProgressSink};
use crate::ToolId;
use crate::policy::budget::{BudgetConfig, RunBudget};

/// What a run asks for. Budgets can only be lowered below the operator's.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunLimits {
    /// Tool calls in all.
    pub calls: Option<u32>,
    /// Tool calls at the same time.
    pub concurrent: Option<u32>,
    /// For one call, counted from its dispatch.
    pub tool_timeout: Option<Duration>,
    /// For all calls together.
    pub tool_time: Option<Duration>,
}

const DEFAULT_CONCURRENT: u32 = 16;

/// A run. Clones are the same run; when the last one is dropped or [`RunScope::end`] is called,
/// its calls end and their servers are told.
#[derive(Clone)]
pub struct RunScope(Arc<Inner>);

struct Inner {
    budget: RunBudget,
    turns: Semaphore,
    tool_timeout: Option<Duration>,
    ended: CancellationToken,
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    _end_with_last_clone: DropGuard,
}

impl RunScope {
    pub(crate) fn new(
        operator: &BudgetConfig,
        limits: RunLimits,
        progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    ) -> Self {
        let budget = operator
            .clone()
            .lowered(limits.calls, limits.tool_time.map(whole_millis));
        let concurrent = limits.concurrent.unwrap_or(DEFAULT_CONCURRENT).max(1);
        let ended = CancellationToken::new();
        Self(Arc::new(Inner {
            budget: RunBudget::new(&budget),
            turns: Semaphore::new(concurrent as usize),
            tool_timeout: limits.tool_timeout,
            _end_with_last_clone: ended.clone().drop_guard(),
            ended,
            progress,
        }))
    }

    /// Ends every call of the run, and refuses new ones.
    pub fn end(&self) {
        self.0.ended.cancel();
    }

    /// Calls made so far.
    pub fn calls(&self) -> u32 {
        self.0.budget.calls()
    }

    pub(crate) fn budget(&self) -> &RunBudget {
        &self.0.budget
    }

    pub(crate) fn turns(&self) -> &Semaphore {
        &self.0.turns
    }

    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.0.ended
    }

    pub(crate) fn tool_timeout(&self) -> Option<Duration> {
        self.0.tool_timeout
    }

    pub(crate) fn progress(&self, tool: &ToolId) -> Option<ProgressSink> {
        let receiver = self.0.progress.clone()?;
        Some(ProgressSink::new(tool.clone(), receiver))
    }
}

fn whole_millis(time: Duration) -> HumanDuration {
    HumanDuration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
