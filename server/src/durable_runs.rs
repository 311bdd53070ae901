//! The durable runs of the server: their journals, what happens to them when they are cut off, and their
//! resumption at the next start.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pml_approvals::Approvals;
use pml_hosts::journal::{DurableScript, DurableSpec, NewRunInfo, RunJournal};
use pml_protocol::{ErrorKind, Limits, Outcome, RunContext, RunId};
use pml_runtime::RunOptions;
use pml_scrub::SavedPlaceholder;
use pml_store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::tasks::{TaskRun, TaskStart};
use crate::waiting_runs::WaitingRuns;

/// How the server keeps journals of its runs.
#[derive(Clone)]
pub struct DurableOptions {
    /// The approvals of its runs, and the store that keeps both.
    pub approvals: Approvals,
    /// What its runs are stored as: a later server with the same origin resumes them.
    pub origin: String,
    /// The configuration file, which `pml resume` uses.
    pub config: Option<PathBuf>,
    /// Whether a person says what became of a guarded call that got no answer; otherwise the script gets the
    /// failure.
    pub settles: bool,
}

/// The durable runs of the server.
pub struct DurableRuns {
    options: DurableOptions,
    /// The runs that are being executed.
    active: Mutex<HashMap<RunId, Arc<RunJournal>>>,
    waiting: WaitingRuns,
    closing: CancellationToken,
}

impl DurableRuns {
    pub fn new(options: DurableOptions, closing: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            options,
            active: Mutex::default(),
            waiting: WaitingRuns::default(),
            closing,
        })
    }

    pub fn store(&self) -> &Store {
        self.options.approvals.store()
    }

    /// The approvals that runs wait for.
    pub fn approvals(&self) -> &Approvals {
        &self.options.approvals
    }

    /// The runs that wait for an approval.
    pub fn waiting(&self) -> &WaitingRuns {
        &self.waiting
    }

    pub fn origin(&self) -> &str {
        &self.options.origin
    }

    /// Begins the journal of a new run. Nothing is stored until the run calls a server.
    pub fn begin(
        self: &Arc<Self>,
        run: &RunContext,
        script: DurableScript,
        limits: Limits,
        tool_timeout: Option<Duration>,
        shown: Shown,
        task: Option<TaskStart>,
    ) -> ActiveRun {
        let mut spec = DurableSpec::new(script, limits);
        spec.tool_ms = tool_timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        spec.config = self.options.config.clone();
        spec.settles = self.options.settles;
        spec.placeholders = shown.placeholders;
        spec.hold = shown.hold;
        spec.session = run.flow().session().clone();
        let info = NewRunInfo {
            tenant: run.tenant().clone(),
            id: run.id().clone(),
            principal: run.principal().as_str().to_owned(),
            origin: self.options.origin.clone(),
            task_ttl: task.map(|task| task.ttl_ms),
        };
        let journal = RunJournal::begin(self.store(), info, spec);
        let mut active = self.active(journal.clone(), run);
        active.task = task.map(|task| TaskRun::new(journal, task));
        active
    }

    /// The execution of a run, by this process.
    pub fn active(self: &Arc<Self>, journal: Arc<RunJournal>, run: &RunContext) -> ActiveRun {
        self.lock().insert(run.id().clone(), journal.clone());
        ActiveRun {
            runs: self.clone(),
            journal,
            run: run.clone(),
            task: None,
            is_finished: false,
        }
    }

    /// How many runs are being executed that have something in the store.
    pub fn interrupted(&self) -> usize {
        let active = self.lock();
        active.values().filter(|run| run.is_stored()).count()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<RunJournal>>> {
        // Ids are added and removed in one step.
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How the reply of a run is made, also after a restart.
pub struct Shown {
    /// The placeholders that the model wrote, with their values.
    pub placeholders: Vec<SavedPlaceholder>,
    /// Whether the model reads only the shape and the size of the result.
    pub hold: bool,
}

/// A run with a journal that is being executed. Dropping it before [`ActiveRun::finish`] cancels the run
/// in the store, or leaves it to the next start if the server is shutting down.
pub struct ActiveRun {
    runs: Arc<DurableRuns>,
    journal: Arc<RunJournal>,
    run: RunContext,
    /// Of a run that is a task, or can become one.
    task: Option<Arc<TaskRun>>,
    is_finished: bool,
}

impl ActiveRun {
    pub fn journal(&self) -> &Arc<RunJournal> {
        &self.journal
    }

    /// The task that the run is or can become.
    pub fn task(&self) -> Option<&Arc<TaskRun>> {
        self.task.as_ref()
    }

    /// The options of the run with the clock and the randomness of its journal.
    pub fn options(&self, options: RunOptions) -> RunOptions {
        RunOptions {
            clock: Some(self.journal.clock()),
            entropy: Some(self.journal.entropy()),
            timers: self.journal.timers(),
            ..options
        }
    }

    /// Stores how the run ended. A run without a journal costs nothing. Returns whether the run is a
    /// task, so that its client reads the reply from the store.
    pub async fn finish(mut self, outcome: &mut Outcome) -> bool {
        let is_task = self.task.as_ref().is_some_and(|task| task.end());
        if is_task && let Err(error) = self.journal.persist().await {
            tracing::warn!(run = %self.run.id(), %error, "a task is not stored");
        }
        if self.journal.is_stored() {
            outcome.run = Some(self.run.id().clone());
            let unknown = outcome.error.as_ref();
            if let Some(error) = unknown.and_then(|error| self.journal.left_unknown(error)) {
                outcome.error = Some(error);
            }
            let stored = self.journal.finish(outcome).await;
            if let Err(error) = stored {
                tracing::warn!(run = %self.run.id(), %error, "the end of a run is not stored");
            }
            let kind = outcome.error.as_ref().map(|error| error.kind);
            let (tenant, id) = (self.run.tenant(), self.run.id());
            match kind {
                Some(ErrorKind::Waiting) => self.runs.waiting.add(tenant, id),
                _ => self.runs.waiting.remove(tenant, id),
            }
        }
        self.is_finished = true;
        is_task
    }
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        self.runs.lock().remove(self.run.id());
        if self.is_finished || !self.journal.is_stored() || self.runs.closing.is_cancelled() {
            // A run that the end of this process cuts off is resumed by the next one.
            return;
        }
        let (store, run) = (self.runs.store().clone(), self.run.clone());
        // Outside of the event loop the process ends, and the run stays resumable.
        if let Ok(event_loop) = tokio::runtime::Handle::try_current() {
            event_loop.spawn(async move { cancel(&store, &run).await });
        }
    }
}

/// The client has cancelled the run, or is gone.
async fn cancel(store: &Store, run: &RunContext) {
    match store.cancel(run.tenant(), run.id()).await {
        Ok(_) | Err(StoreError::Ended { .. } | StoreError::NotFound { .. }) => {}
        Err(error) => tracing::warn!(run = %run.id(), %error, "a cancelled run is not stored"),
    }
}
