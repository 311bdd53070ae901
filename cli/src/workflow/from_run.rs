//! `pml workflow from-run`: a plan from a recording or a durable run.

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use clap::Args;
use pml_hosts::journal::{DurableSpec, called_tool, journaled_recording};
use pml_hosts::{RecordedAnswer, RecordedRequest, Recording};
use pml_protocol::{EffectClass, Outcome, RunId, TenantId};
use pml_store::JournalEntry;
use pml_workflow::{Plan, PlanLimits, RecordedCall, plan_of_calls};
use serde_json::Value;

use crate::diagnostics;
use crate::exit::{self, ExitCode};
use crate::runs::with_store;
use crate::store_setup::StoreArgs;

/// Make a plan of a run that worked
///
/// Its calls become tasks. An argument that occurs in an earlier result becomes a reference to it, so
/// calls that do not use each other's results run in parallel. Calls with effects keep their order.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml run --record audit.json audit.ts && pml workflow from-run audit.json > plan.json\n  \
    pml workflow from-run nightly-1 > plan.json      a run of `pml run --durable`")]
pub struct FromRunArgs {
    /// A recording, or the id of a durable run
    #[arg(value_name = "FILE|ID")]
    what: String,

    /// Tools that change nothing, so that their calls need not keep their order
    #[arg(long, value_name = "TOOL")]
    read: Vec<String>,

    #[command(flatten)]
    store: StoreArgs,
}

pub fn from_run(args: &FromRunArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let path = Path::new(&args.what);
    if path.exists() {
        return print(&Recording::load(path)?, &args.read, None);
    }
    let Ok(id) = args.what.parse::<RunId>() else {
        bail!("there is no file {}; check the path", args.what);
    };
    with_store(&args.store, config, async |store, _| {
        let tenant = TenantId::local();
        let Some(run) = store.run(&tenant, &id).await? else {
            bail!("there is neither a file nor a durable run {id}");
        };
        let spec = DurableSpec::from_bytes(&run.spec).map_err(anyhow::Error::msg)?;
        let entries = store.journal(&tenant, &id).await?;
        let outcome = run.outcome.as_deref();
        let outcome: Option<Outcome> = outcome.and_then(|bytes| serde_json::from_slice(bytes).ok());
        let result = outcome.and_then(|outcome| outcome.result);
        let result = result.and_then(|json| serde_json::from_str::<Value>(json.get()).ok());
        // The result of a plan is its report.
        let result = match spec.script.is_workflow {
            true => result.and_then(|mut report| Some(report.get_mut("output")?.take())),
            false => result,
        };
        let is_read = |entry: &&JournalEntry| entry.class == Some(EffectClass::Read);
        let read = entries
            .iter()
            .filter(is_read)
            .map(|entry| called_tool(entry).to_owned());
        let read: Vec<String> = read.chain(args.read.iter().cloned()).collect();
        print(
            &journaled_recording(&spec, &entries),
            &read,
            result.as_ref(),
        )
    })
}

fn print(
    recording: &Recording,
    read: &[String],
    result: Option<&Value>,
) -> anyhow::Result<ExitCode> {
    let calls: Vec<RecordedCall> = recording
        .requests
        .iter()
        .filter_map(|entry| {
            let RecordedRequest::Call { tool, args } = &entry.request else {
                return None;
            };
            Some(RecordedCall {
                tool: tool.clone(),
                args: args.clone(),
                result: match &entry.answer {
                    RecordedAnswer::Value(value) => Some(value.clone()),
                    RecordedAnswer::Failure(_) | RecordedAnswer::Unanswered => None,
                },
                has_effect: !read.contains(tool),
            })
        })
        .collect();
    if calls.iter().all(|call| call.result.is_none()) {
        bail!("the run has no call that succeeded: there is nothing to make a plan of");
    }
    let plan = plan_of_calls(&calls, result);
    let graph = Plan::from_value(plan.clone(), &PlanLimits::default())?;
    diagnostics::line(format_args!(
        "{} calls, {} one after another in the plan",
        graph.tasks.len(),
        graph.graph().layers()
    ));
    let printed = writeln!(std::io::stdout().lock(), "{plan:#}");
    exit::check_pipe(printed)?;
    Ok(ExitCode::SUCCESS)
}
