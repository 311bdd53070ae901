//! Resumes the durable runs that an earlier server left.

use std::sync::Arc;
use std::time::Duration;

use pml_hosts::journal::{DurableSpec, RunJournal};
use pml_hosts::{CannotAsk, IfUnasked, RunEnd, RunSpan};
use pml_protocol::{Outcome, RunFlow, RunId, TenantId};
use pml_runtime::{Event, RunOptions, Script};
use pml_store::{ClaimedRun, StoreError};
use pml_workflow::{Plan, PlanLimits, ScriptPlans};

use crate::client_session::RunApprover;
use crate::durable_runs::DurableRuns;
use crate::log_context::LogContext;
use crate::plan_hooks::{PlanHooks, PlanLogs};
use crate::plan_run::{PlanRun, refused, script_plan_parts};
use crate::state::ServerState;
use crate::tasks::TrackedTask;

/// How often the store deletes and compresses what has ended long ago.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Keeps the store to its retention until the server ends.
pub async fn maintain_store(state: ServerState) {
    let Some(runs) = state.durable_runs().cloned() else {
        return;
    };
    let mut interval = tokio::time::interval(MAINTENANCE_INTERVAL);
    loop {
        tokio::select! {
            _ = interval.tick() => {}
            () = state.closing().cancelled() => return,
        }
        if let Err(error) = runs.store().maintain().await {
            tracing::warn!(%error, "the store cannot be maintained");
        }
    }
}

/// Resumes all runs that this server owned before it ended. They run in the background; their results
/// are in the store, and `pml resume ID` prints them.
pub async fn resume_runs(state: ServerState) {
    let Some(runs) = state.durable_runs().cloned() else {
        return;
    };
    let tenant = TenantId::local();
    let ids = match runs.store().resumable(&tenant, Some(runs.origin())).await {
        Ok(ids) => ids,
        Err(error) => {
            tracing::warn!(%error, "the runs that were interrupted cannot be listed");
            return;
        }
    };
    if ids.is_empty() {
        return;
    }
    tracing::info!(runs = ids.len(), "resuming the runs that were interrupted");
    // The tools of all servers must be known before a script runs: it found them the first time.
    state.first_listing().await;
    for id in ids {
        let (state, runs, tenant) = (state.clone(), runs.clone(), tenant.clone());
        let tracked = state.tasks().resumed(&id);
        tokio::spawn(async move { resume_run(&state, &runs, &tenant, &id, tracked).await });
    }
}

/// What became of a run that was to be resumed.
pub enum Resumed {
    /// This process has executed it until it ended or waits again.
    Executed,
    /// Another process executes it.
    Owned,
    /// It has ended before, or the server shuts down.
    Ended,
}

/// Resumes one run, if no other process does, until it ends or is cancelled.
pub async fn resume_run(
    state: &ServerState,
    runs: &Arc<DurableRuns>,
    tenant: &TenantId,
    id: &RunId,
    tracked: TrackedTask,
) -> Resumed {
    tokio::select! {
        resumed = resume(state, runs, tenant, id) => resumed.unwrap_or_else(|error| {
            tracing::warn!(run = %id, %error, "a run cannot be resumed");
            Resumed::Ended
        }),
        () = tracked.cancelled() => Resumed::Ended,
    }
}

async fn resume(
    state: &ServerState,
    runs: &Arc<DurableRuns>,
    tenant: &TenantId,
    id: &RunId,
) -> Result<Resumed, Box<dyn std::error::Error + Send + Sync>> {
    let Some(_in_flight) = state.begin_call() else {
        return Ok(Resumed::Ended);
    };
    let claimed = match runs.store().claim(tenant, id).await {
        Ok(claimed) => claimed,
        // Another process was faster.
        Err(StoreError::Owned { .. }) => return Ok(Resumed::Owned),
        Err(StoreError::Ended { .. }) => return Ok(Resumed::Ended),
        Err(error) => return Err(error.into()),
    };
    execute(state, runs, claimed).await?;
    Ok(Resumed::Executed)
}

/// The plan of a run in the store was within the limits when it began.
async fn resumed_plan(spec: &DurableSpec, plan_run: PlanRun) -> Outcome {
    let limits = PlanLimits {
        tasks: usize::MAX,
        depth: usize::MAX,
        ..PlanLimits::default()
    };
    let input = spec.script.args.first();
    let input = input.and_then(|input| serde_json::from_str(input).ok());
    match Plan::parse(&spec.script.source, &limits) {
        Ok(plan) => plan_run.outcome(&plan, input.unwrap_or_default()).await,
        Err(error) => refused(&error),
    }
}

async fn execute(
    state: &ServerState,
    runs: &Arc<DurableRuns>,
    claimed: ClaimedRun,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let Some(owner) = state.owner_of_run(&claimed.run.principal) else {
        let _ = claimed.writer.release().await;
        let principal = &claimed.run.principal;
        let message = format!(
            "it began with the authority of `{principal}`, which this server does not have: give the token to `pml resume` with --capability"
        );
        return Err(message.into());
    };
    let session = state.new_session(&owner);
    let id = claimed.run.id.clone();
    let journal = RunJournal::resume(claimed)?;
    let spec = journal.spec().clone();
    session.load_placeholders(&spec.placeholders).await;
    let flow = RunFlow::of_session(&spec.session);
    let client_run = session.begin_run(&spec.script.written(), &flow).await;
    let run = session.resumed_run(id).with_flow(flow);
    let (mut observed, run) = RunSpan::begin(state.telemetry(), None, run);
    let approver = RunApprover {
        approver: Arc::new(CannotAsk),
        if_unasked: IfUnasked::Refuse,
    };
    let active = runs.active(journal.clone(), &run);
    let progress = |_| {};
    let durable = Some(journal.clone());
    let pipeline = client_run.pipeline(state, &run, &spec.limits, approver, durable, progress);
    let host = pipeline.host;
    let hooks = Arc::new(PlanHooks {
        gateway: session.gateway().clone(),
        report: Box::new(|_| {}),
        logs: PlanLogs::default(),
    });
    let mut outcome = match spec.script.is_workflow {
        true => {
            let plan_run = PlanRun {
                state: state.clone(),
                run: run.clone(),
                host,
                journal: Some(journal),
                limits: spec.limits,
                hooks,
            };
            resumed_plan(&spec, plan_run).await
        }
        false => {
            let parts = script_plan_parts(state, &spec.limits, Some(&journal), hooks);
            let script = Script {
                name: spec.script.name.clone(),
                source: spec.script.source.clone(),
                args: spec.script.args.clone(),
            };
            let options = active.options(RunOptions {
                context: Some(run.clone()),
                ..RunOptions::default()
            });
            let host = Arc::new(ScriptPlans::new(host, parts));
            let pool = state.pool();
            let mut on_event = |event: Event<'_>| {
                if let (Event::Started, Some(observed)) = (&event, &mut observed) {
                    observed.has_worker();
                }
            };
            let running = pool.run_with(script, options, spec.limits, host, &mut on_event);
            LogContext::of_run(&run).scope(running).await
        }
    };
    outcome.held = spec.hold;
    active.finish(&mut outcome).await;
    if let Some(observed) = observed {
        observed.end(&outcome);
    }
    if let Some(audit) = state.audit() {
        audit.run_ended(&run, &spec.script.source, &RunEnd::new(&outcome));
    }
    tracing::info!(
        run = %run.id(),
        ok = outcome.ok,
        kind = outcome.error.as_ref().map(|error| error.kind.to_string()),
        calls = outcome.calls.len(),
        "a resumed script ended"
    );
    Ok(())
}
