//! `pml run --durable`: a run with a journal, which another process can resume.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use pml_approvals::Approvals;
use pml_hosts::RunPlaceholders;
use pml_hosts::journal::{DurableScript, DurableSpec, NewRunInfo, RunJournal};
use pml_protocol::{ErrorKind, Limits, Outcome, RunId, TenantId};
use pml_runtime::Script;
use pml_scrub::{PlaceholderMap, ScrubConfig, Scrubber, SharedPlaceholders};
use pml_store::{Store, StoreError};

use super::durable_tools::DurableTools;
use super::script::Origin;
use crate::config::Settings;
use crate::store_setup::{self, StoreArgs};
use crate::{capability, diagnostics};

/// What a run of this command is stored as: `pml resume --all` resumes it, `pml serve` does not.
pub const ORIGIN: &str = "run";

/// How long the end of a run waits until approvers are told.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Args)]
pub struct DurableArgs {
    /// Keep a journal, so that the run survives a crash: `pml resume` continues it
    ///
    /// The intent of every call that changes something is on disk before it is sent. The id of the
    /// run is printed on standard error. Time and randomness are the journal's.
    #[arg(long)]
    durable: bool,

    /// The id of the durable run, instead of a random one
    #[arg(long, value_name = "ID", requires = "durable")]
    run_id: Option<RunId>,

    #[command(flatten)]
    store: StoreArgs,
}

impl DurableArgs {
    /// The durable run that the flags ask for.
    pub fn run(&self, origin: &Origin<'_>) -> Option<DurableRun> {
        self.durable.then(|| DurableRun::New {
            id: self.run_id.clone(),
            file: match origin {
                Origin::File(path) => std::path::absolute(path).ok(),
                Origin::Stdin | Origin::Code(_) => None,
            },
            store: self.store.clone(),
            is_workflow: false,
        })
    }

    /// The durable workflow that the flags ask for. Its plan is kept in the store.
    pub fn workflow(&self) -> Option<DurableRun> {
        self.durable.then(|| DurableRun::New {
            id: self.run_id.clone(),
            file: None,
            store: self.store.clone(),
            is_workflow: true,
        })
    }
}

/// A durable run that is about to be executed.
pub enum DurableRun {
    /// For the first time.
    New {
        id: Option<RunId>,
        file: Option<PathBuf>,
        store: StoreArgs,
        is_workflow: bool,
    },
    /// Again.
    Resumed {
        journal: Arc<RunJournal>,
        store: Store,
    },
}

/// A durable run that is being executed.
pub struct OpenRun {
    journal: Arc<RunJournal>,
    approvals: Approvals,
}

impl DurableRun {
    /// Opens the store and begins the journal of a new run.
    pub async fn open(
        self,
        settings: &Settings,
        script: &Script,
        limits: Limits,
        tool_timeout: Option<Duration>,
    ) -> anyhow::Result<OpenRun> {
        let (id, file, store, is_workflow) = match self {
            Self::Resumed { journal, store } => {
                let approvals = settings.approvals.open(store);
                return Ok(OpenRun { journal, approvals });
            }
            Self::New {
                id,
                file,
                store,
                is_workflow,
            } => (id, file, store, is_workflow),
        };
        let store = store_setup::open(&store, settings).await?;
        let tenant = TenantId::local();
        if let Some(id) = &id
            && store.run(&tenant, id).await?.is_some()
        {
            return Err(StoreError::Exists { id: id.clone() }.into());
        }
        let id = id.unwrap_or_else(RunId::random);
        diagnostics::line(format_args!("run {id}"));
        let script = DurableScript {
            name: script.name.clone(),
            source: script.source.clone(),
            args: script.args.clone(),
            file,
            is_workflow,
        };
        let mut spec = DurableSpec::new(script, limits);
        spec.settles = true;
        spec.tool_ms = tool_timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        spec.config = settings.servers.file.clone().and_then(|file| {
            // The run may be resumed from another folder.
            std::path::absolute(file).ok()
        });
        let info = NewRunInfo {
            tenant,
            id,
            principal: capability::principal(&settings.servers)?
                .as_str()
                .to_owned(),
            origin: ORIGIN.to_owned(),
            task_ttl: None,
        };
        Ok(OpenRun {
            journal: RunJournal::begin(&store, info, spec),
            approvals: settings.approvals.open(store),
        })
    }
}

impl OpenRun {
    /// What the tools of the run need.
    pub async fn tools(&self, scrub: &ScrubConfig) -> anyhow::Result<DurableTools> {
        let scrubber = Arc::new(Scrubber::new(scrub)?);
        let placeholders = SharedPlaceholders::new(PlaceholderMap::new(scrubber));
        Ok(DurableTools {
            journal: self.journal.clone(),
            approvals: self.approvals.clone(),
            placeholders: Arc::new(RunPlaceholders::new(&placeholders, "").await),
            task_approver: None,
        })
    }

    /// The journal.
    pub fn journal(&self) -> &Arc<RunJournal> {
        &self.journal
    }

    /// Tells approvers what they were not told yet, and closes the store.
    pub async fn close(self) {
        if let Some(webhook) = self.approvals.webhook() {
            let missed = webhook.delivered(NOTIFY_TIMEOUT).await;
            if missed > 0 {
                let id = self.journal.id();
                diagnostics::warning(format_args!(
                    "the webhook of `pml.approvals.notify` could not be told of {missed} approvals; `pml resume {id}` tries again"
                ));
            }
        }
        self.approvals.store().close().await;
    }

    /// Stores how the run ended, and says what is left to do.
    pub async fn ended(&self, outcome: &mut Outcome, is_interrupted: bool) {
        let id = self.journal.id();
        outcome.run = Some(id.clone());
        let unknown = outcome.error.as_ref().filter(|_| !is_interrupted);
        if let Some(error) = unknown.and_then(|error| self.journal.left_unknown(error)) {
            outcome.error = Some(error);
        }
        let stored = match is_interrupted {
            true => self.journal.interrupt().await,
            false => self.journal.finish(outcome).await,
        };
        if let Err(error) = stored {
            diagnostics::warning(format_args!("the end of run {id} is not stored: {error}"));
        }
        let kind = outcome.error.as_ref().map(|error| error.kind);
        if self.journal.is_stored() && (is_interrupted || kind == Some(ErrorKind::Internal)) {
            diagnostics::line(format_args!("`pml resume {id}` continues it"));
        }
    }
}
