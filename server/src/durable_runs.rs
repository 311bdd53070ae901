//! The durable runs of the server: their journals, what happens to them when they are cut off, and their
//! resumption at the next start.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pml_hosts::journal::{DurableScript, DurableSpec, NewRunInfo, RunJournal};
use pml_protocol::{Limits, Outcome, RunContext, RunId};
use pml_runtime::{RunOptions, Script};
use pml_scrub::SavedPlaceholder;
use pml_store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

/// How the server keeps journals of its runs.
#[derive(Clone)]
pub struct DurableOptions {
    /// Where they are kept.
    pub store: Store,
    /// What its runs are stored as: a later server with the same origin resumes them.
    pub origin: String,
    /// The configuration file, which `pml resume` uses.
    pub config: Option<PathBuf>,
}

/// The durable runs of the server.
pub struct DurableRuns {
    options: DurableOptions,
    /// The runs that are being executed.
    active: Mutex<HashMap<RunId, Arc<RunJournal>>>,
    closing: CancellationToken,
}

impl DurableRuns {
    pub fn new(options: DurableOptions, closing: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            options,
            active: Mutex::default(),
            closing,
        })
    }

    pub fn store(&self) -> &Store {
        &self.options.store
    }

    pub fn origin(&self) -> &str {
        &self.options.origin
    }

    /// Begins the journal of a new run. Nothing is stored until the run calls a server.
    pub fn begin(
        self: &Arc<Self>,
        run: &RunContext,
        script: &Script,
        limits: Limits,
        tool_timeout: Option<Duration>,
        placeholders: Vec<SavedPlaceholder>,
    ) -> ActiveRun {
        let script = DurableScript {
            name: script.name.clone(),
            source: script.source.clone(),
            args: script.args.clone(),
            file: None,
        };
        let mut spec = DurableSpec::new(script, limits);
        spec.tool_ms = tool_timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        spec.config = self.options.config.clone();
        spec.placeholders = placeholders;
        let info = NewRunInfo {
            tenant: run.tenant().clone(),
            id: run.id().clone(),
            principal: run.principal().as_str().to_owned(),
            origin: self.options.origin.clone(),
        };
        self.active(RunJournal::begin(&self.options.store, info, spec), run)
    }

    /// The execution of a run, by this process.
    pub fn active(self: &Arc<Self>, journal: Arc<RunJournal>, run: &RunContext) -> ActiveRun {
        self.lock().insert(run.id().clone(), journal.clone());
        ActiveRun {
            runs: self.clone(),
            journal,
            run: run.clone(),
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

/// A run with a journal that is being executed. Dropping it before [`ActiveRun::finish`] cancels the run
/// in the store, or leaves it to the next start if the server is shutting down.
pub struct ActiveRun {
    runs: Arc<DurableRuns>,
    journal: Arc<RunJournal>,
    run: RunContext,
    is_finished: bool,
}

impl ActiveRun {
    pub fn journal(&self) -> &Arc<RunJournal> {
        &self.journal
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

    /// Stores how the run ended. A run without a journal costs nothing.
    pub async fn finish(mut self, outcome: &mut Outcome) {
        if self.journal.is_stored() {
            outcome.run = Some(self.run.id().clone());
            let stored = self.journal.finish(outcome).await;
            if let Err(error) = stored {
                tracing::warn!(run = %self.run.id(), %error, "the end of a run is not stored");
            }
        }
        self.is_finished = true;
    }
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        self.runs.lock().remove(self.run.id());
        if self.is_finished || !self.journal.is_stored() || self.runs.closing.is_cancelled() {
            // A run that the end of this process cuts off is resumed by the next one.
            return;
        }
        let (store, run) = (self.runs.options.store.clone(), self.run.clone());
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
