//! The run that calls belong to: its budget, concurrency limit and cancellation.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pml_guards::{History, RunShape};
use pml_policy::labels::Label;
use pml_protocol::RunContext;
use pml_units::HumanDuration;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::error::CallError;
use super::progress::{ProgressListener, ProgressSink};
use crate::ToolId;
use crate::caller::Caller;

use crate::policy::Refusal;
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
pub struct RunScope {
    run: Arc<Inner>,
    /// `None` if both labels are clean.
    labels: Option<Arc<(Label, Label)>>,
    /// The request that this handle is for.
    request: Option<RunContext>,
    /// The run whose call this one is a part of: what this one spends, that one spends too.
    outer: Option<Arc<RunScope>>,
}

static CLEAN: Label = Label::CLEAN;

/// What a run and its session have read, for policies.
#[derive(Debug, Clone, Copy)]
pub struct RunLabels<'a> {
    /// What the run had read when it made the request.
    pub run: &'a Label,
    /// What the session had read when the run began.
    pub session: &'a Label,
}

impl Default for RunLabels<'_> {
    fn default() -> Self {
        Self {
            run: &CLEAN,
            session: &CLEAN,
        }
    }
}

struct Inner {
    caller: Arc<Caller>,
    budget: RunBudget,
    permits: Semaphore,
    tool_timeout: Option<Duration>,
    ended: CancellationToken,
    progress: Option<ProgressListener>,
    shape: RunShape,
    /// What calls of the run without a session have done.
    history: History,
    /// What the session would have done after the calls of a dry run.
    forecast: OnceLock<History>,
    _end_with_last_clone: DropGuard,
}

impl RunScope {
    pub(crate) fn new(
        caller: Arc<Caller>,
        operator: &BudgetConfig,
        limits: RunLimits,
        progress: Option<ProgressListener>,
    ) -> Self {
        let budget = operator
            .clone()
            .lowered(limits.calls, limits.tool_time.map(whole_millis));
        let concurrent = limits.concurrent.unwrap_or(DEFAULT_CONCURRENT).max(1);
        let ended = CancellationToken::new();
        let run = Arc::new(Inner {
            budget: RunBudget::new(&budget).of_principal(&caller.requester.entity_id()),
            caller,
            permits: Semaphore::new(concurrent as usize),
            tool_timeout: limits.tool_timeout,
            _end_with_last_clone: ended.clone().drop_guard(),
            ended,
            progress,
            shape: RunShape::default(),
            history: History::default(),
            forecast: OnceLock::new(),
        });
        Self {
            run,
            labels: None,
            request: None,
            outer: None,
        }
    }

    /// The same run as a part of a call of another one, whose budgets it spends as well.
    #[must_use]
    pub fn inside(self, outer: &Self) -> Self {
        Self {
            outer: Some(Arc::new(outer.clone())),
            ..self
        }
    }

    /// The same run, for a request that depends on data with these labels.
    #[must_use]
    pub fn with_labels(&self, run: Label, session: Label) -> Self {
        let is_clean = run.is_clean() && session.is_clean();
        Self {
            labels: (!is_clean).then(|| Arc::new((run, session))),
            ..self.clone()
        }
    }

    /// The same run, for one request of it: guards know its session, and note in it what they say.
    #[must_use]
    pub fn for_request(&self, request: &RunContext) -> Self {
        Self {
            request: Some(request.clone()),
            ..self.clone()
        }
    }

    /// The request that this handle is for.
    pub(crate) fn request(&self) -> Option<&RunContext> {
        self.request.as_ref()
    }

    /// The calls of the run that are under way, and how they follow each other.
    pub(crate) fn shape(&self) -> &RunShape {
        &self.run.shape
    }

    /// What calls of the run without a session have done.
    pub(crate) fn history(&self) -> &History {
        &self.run.history
    }

    /// What the session would have done after the calls of a dry run; `now` is what it has done.
    pub(crate) fn forecast(&self, now: &History) -> &History {
        self.run.forecast.get_or_init(|| now.forked())
    }

    /// What the run and its session have read.
    pub(crate) fn labels(&self) -> RunLabels<'_> {
        match self.labels.as_deref() {
            Some((run, session)) => RunLabels { run, session },
            None => RunLabels::default(),
        }
    }

    /// Cancels every call of the run, and refuses new ones.
    pub fn end(&self) {
        self.run.ended.cancel();
    }

    /// The number of calls so far.
    pub fn calls(&self) -> u32 {
        self.run.budget.calls()
    }

    /// Spends a call: of the budget of the run, and of those of the caller's tokens.
    ///
    /// # Errors
    /// A budget is used up.
    pub fn spend(&self, id: &str) -> Result<(), CallError> {
        let spent = self.spend_budgets(id);
        let spent = spent.and_then(|()| self.run.caller.spend_call(id));
        spent.map_err(|refusal| CallError::refused(id, refusal))
    }

    fn spend_budgets(&self, id: &str) -> Result<(), Refusal> {
        if let Some(outer) = &self.outer {
            outer.spend_budgets(id)?;
        }
        self.run.budget.spend_call(id)
    }

    /// The same for a call that is not sent: of a token nothing is spent.
    pub(crate) fn predict_spending(&self, id: &str) -> Result<(), CallError> {
        let spent = self.spend_budgets(id);
        let spent = spent.and_then(|()| self.run.caller.has_calls(id, self.calls()));
        spent.map_err(|refusal| CallError::refused(id, refusal))
    }

    /// Whether the budget has room for a call of this tool besides `others`, which are under way and not
    /// spent. Never, if the time of calls is limited, or a token counts them: one that is not used would
    /// take it from others.
    pub fn has_room_to_speculate(&self, id: &str, others: u32) -> bool {
        self.run.budget.has_room(id, others) && !self.run.caller.counts_calls()
    }

    /// Who runs it.
    pub(crate) fn caller(&self) -> &Caller {
        &self.run.caller
    }

    pub(crate) fn budget(&self) -> &RunBudget {
        &self.run.budget
    }

    pub(crate) fn permits(&self) -> &Semaphore {
        &self.run.permits
    }

    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.run.ended
    }

    pub(crate) fn tool_timeout(&self) -> Option<Duration> {
        self.run.tool_timeout
    }

    pub(crate) fn progress(
        &self,
        tool: &ToolId,
        of_call: Option<&ProgressListener>,
    ) -> Option<ProgressSink> {
        let receivers: Vec<_> = self.run.progress.iter().chain(of_call).cloned().collect();
        (!receivers.is_empty()).then(|| ProgressSink::new(tool.clone(), receivers))
    }
}

fn whole_millis(time: Duration) -> HumanDuration {
    HumanDuration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
