//! `pml resume`: continues durable runs.

mod changed_script;
mod line_diff;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use pml_hosts::journal::{DurableSpec, RunJournal};
use pml_protocol::{Outcome, RunId, TenantId};
use pml_reply::limit_output;
use pml_store::{ClaimedRun, RunState, Store, StoreError, StoredRun};
use pml_tokens::is_capability_name;

use crate::config::{self, Settings};
use crate::exit::ExitCode;
use crate::run::{self, PreparedRun, RunOutput};
use crate::runs::with_store;
use crate::store_setup::StoreArgs;
use crate::style::Style;
use crate::{capability, diagnostics, exit, workflow};

/// Continue a durable run that was interrupted
///
/// The script is executed again. What its journal has is answered from it; the rest is sent. A run
/// that has ended prints its stored result.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml resume nightly-1           continue one run\n  \
    pml resume --all               continue all that no process executes\n  \
    pml resume --json nightly-1    print the whole outcome as JSON\n\n\
    Exit codes: those of `pml run`; 75 if the run waits for a person (pml runs show).")]
pub struct ResumeArgs {
    /// The id of the run
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    id: Option<RunId>,

    /// All runs that have not ended and that no process executes
    #[arg(long)]
    all: bool,

    /// Continue although the script has changed, where it still matches the journal
    #[arg(long, conflicts_with = "all")]
    force: bool,

    /// Print the result as JSON on standard output
    ///
    /// It is the whole outcome, as `pml run --json` prints it; with --all, one on each line.
    #[arg(long)]
    json: bool,

    /// Replace personal data and secrets in the result, the logs and the error
    #[arg(long)]
    scrub: bool,

    #[command(flatten)]
    store: StoreArgs,
}

pub fn run(args: &ResumeArgs, config: Option<&Path>) -> ExitCode {
    let resumed = with_store(&args.store, config, async |store, _| {
        let resume = Resume {
            args,
            config,
            store,
        };
        match &args.id {
            Some(id) => resume.one(id).await,
            None => resume.all().await,
        }
    });
    resumed.unwrap_or_else(exit::usage_error)
}

fn is_workflow(claimed: &ClaimedRun) -> bool {
    DurableSpec::from_bytes(&claimed.run.spec).is_ok_and(|spec| spec.script.is_workflow)
}

struct Resume<'a> {
    args: &'a ResumeArgs,
    config: Option<&'a Path>,
    store: &'a Store,
}

impl Resume<'_> {
    async fn all(&self) -> anyhow::Result<ExitCode> {
        let ids = self.store.resumable(&TenantId::local(), None).await?;
        let mut worst = ExitCode::SUCCESS;
        for id in ids {
            diagnostics::line(format_args!("run {id}"));
            let code = match self.one(&id).await {
                Ok(code) => code,
                // The others are resumed all the same.
                Err(error) => {
                    diagnostics::error(format_args!("{error:#}"));
                    ExitCode::FAILURE
                }
            };
            if worst == ExitCode::SUCCESS {
                worst = code;
            }
        }
        Ok(worst)
    }

    async fn one(&self, id: &RunId) -> anyhow::Result<ExitCode> {
        let claimed = match self.store.claim(&TenantId::local(), id).await {
            Ok(claimed) => claimed,
            Err(StoreError::Ended { .. }) => return self.print_ended(id).await,
            Err(error) => return Err(error.into()),
        };
        let writer = claimed.writer.clone();
        if let Err(error) = self.check_principal(&claimed) {
            let _ = writer.release().await;
            return Err(error);
        }
        if is_workflow(&claimed) {
            return match self.workflow(claimed).await {
                Ok(code) => Ok(code),
                Err(error) => {
                    let _ = writer.release().await;
                    Err(error)
                }
            };
        }
        let prepared = match self.prepare(claimed).await {
            Ok(prepared) => prepared,
            Err(error) => {
                // The error that matters is the first one.
                let _ = writer.release().await;
                return Err(error);
            }
        };
        prepared.run_in_event_loop(Style::for_stderr()).await
    }

    /// A run goes on with the authority that it began with, and no other.
    fn check_principal(&self, claimed: &ClaimedRun) -> anyhow::Result<()> {
        let spec = DurableSpec::from_bytes(&claimed.run.spec).map_err(anyhow::Error::msg)?;
        let began_as = claimed.run.principal.as_str();
        let own = capability::principal(&self.settings(&spec)?.servers)?;
        let has_own = capability::is_given() || is_capability_name(began_as);
        if has_own && own.as_str() != began_as {
            bail!(
                "run {} began as `{began_as}`, and this is `{own}`: give the capability token that it began with, or none if it had none",
                claimed.run.id
            );
        }
        Ok(())
    }

    async fn workflow(&self, claimed: ClaimedRun) -> anyhow::Result<ExitCode> {
        let spec = DurableSpec::from_bytes(&claimed.run.spec).map_err(anyhow::Error::msg)?;
        let settings = self.settings(&spec)?;
        let journal = RunJournal::resume(claimed)?;
        let output = self.output();
        workflow::resume(settings, journal, self.store.clone(), output).await
    }

    async fn prepare(&self, claimed: ClaimedRun) -> anyhow::Result<PreparedRun> {
        let spec = DurableSpec::from_bytes(&claimed.run.spec).map_err(anyhow::Error::msg)?;
        let settings = self.settings(&spec)?;
        let journal = match changed_script::read(&spec.script)? {
            Some(changed) if self.args.force => RunJournal::resume_changed(claimed, changed)?,
            Some(changed) => {
                let refusal = changed_script::explain(&claimed, &spec, &changed).await?;
                bail!("{refusal}");
            }
            None => RunJournal::resume(claimed)?,
        };
        let output = self.output();
        PreparedRun::resumed(settings, journal, self.store.clone(), output)
    }

    /// The settings of the file that the run began with, unless `--config` names another.
    fn settings(&self, spec: &DurableSpec) -> anyhow::Result<Settings> {
        let file = self.config.or(spec.config.as_deref());
        let settings = config::load(file);
        settings.with_context(|| match (self.config, &spec.config) {
            (None, Some(file)) => format!(
                "the run began with the configuration {}, which cannot be used; name another with --config",
                file.display()
            ),
            _ => "the configuration cannot be used".to_owned(),
        })
    }

    /// Prints the stored outcome of a run that has ended.
    async fn print_ended(&self, id: &RunId) -> anyhow::Result<ExitCode> {
        let run = self.store.run(&TenantId::local(), id).await?;
        let run = run.ok_or_else(|| StoreError::NotFound { id: id.clone() })?;
        if run.state == RunState::Cancelled {
            bail!("run {id} was cancelled, and a cancelled run is not continued; start a new one");
        }
        let (outcome, spec) = stored_outcome(&run)?;
        let mut limits = spec.limits;
        if spec.script.is_workflow {
            // A report is longer than what a model would read.
            limits.output_chars = u64::MAX;
        }
        let outcome = match self.args.scrub {
            true => {
                let settings = self.settings(&spec)?;
                run::scrubbed(outcome, &settings, &limits)?
            }
            false => limit_output(outcome, &limits),
        };
        if spec.script.is_workflow {
            return workflow::print_ended(&spec, &outcome, id.as_str(), self.args.json);
        }
        let style = Style::for_stderr();
        Ok(run::print(
            self.output(),
            &spec.script.name,
            &outcome,
            None,
            style,
        ))
    }

    fn output(&self) -> RunOutput {
        RunOutput {
            json: self.args.json,
            scrub: self.args.scrub,
        }
    }
}

fn stored_outcome(run: &StoredRun) -> anyhow::Result<(Outcome, Arc<DurableSpec>)> {
    let spec = DurableSpec::from_bytes(&run.spec).map_err(anyhow::Error::msg)?;
    let bytes = run.outcome.as_deref().unwrap_or_default();
    let outcome = serde_json::from_slice(bytes)
        .with_context(|| format!("the stored result of run {} cannot be read", run.id))?;
    Ok((outcome, Arc::new(spec)))
}
