//! `pml audit reconcile`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use pml_audit::{AuditFolder, Filter, JournaledCalls, Reconciled, reconcile as compare};
use pml_gateway::printable;
use pml_protocol::TenantId;
use pml_store::{RunFilter, Store};
use serde_json::json;

use super::print;
use crate::audit_setup;
use crate::config::Settings;
use crate::exit::ExitCode;
use crate::run::durable::ORIGIN;
use crate::runs::with_store;
use crate::store_setup::StoreArgs;

/// Compare the log with the journals of durable runs
///
/// Every call in the journal of a run must have an intent in the log. An intent without an outcome is a
/// call whose process ended first: whether it happened is not known.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml audit reconcile\n  \
    pml audit reconcile --json | jq .missing\n\n\
    Exit codes: 0 complete, 1 a call is missing in the log, 2 wrong usage or configuration.")]
pub struct ReconcileArgs {
    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgs,
}

pub fn reconcile(args: &ReconcileArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    with_store(&args.store, config, async |store, settings| {
        let folder = audit_setup::folder(&settings)?;
        let entries = AuditFolder::open(&folder)?.query(&Filter::default())?;
        let oldest = entries.first().map(|entry| entry.time().to_owned());
        let (calls, runs) = journaled(store, &settings, oldest.as_deref()).await?;
        let found = compare(&entries, &calls);
        let is_complete = found.missing.is_empty();
        print(&match args.json {
            true => format!(
                "{}\n",
                json!({ "ok": is_complete, "runs": runs, "found": found })
            ),
            false => report(&found, runs),
        })?;
        Ok(match is_complete {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    })
}

/// The calls of the runs that the log should have, and the number of these runs.
async fn journaled(
    store: &Store,
    settings: &Settings,
    oldest: Option<&str>,
) -> anyhow::Result<(Vec<JournaledCalls>, usize)> {
    let tenant = TenantId::local();
    let mut runs = store.runs(&tenant, &RunFilter::default()).await?;
    let oldest = oldest.map(audit_setup::unix_ms);
    runs.retain(|run| {
        // Commands are recorded only where the operator wants that.
        let is_recorded = run.origin != ORIGIN || settings.audit.records_commands();
        is_recorded && oldest.is_none_or(|oldest| run.created >= oldest)
    });
    let mut calls = Vec::new();
    for run in &runs {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for entry in store.journal(&tenant, &run.id).await? {
            if let Some(tool) = entry.title.strip_prefix("call ") {
                *counts.entry(tool.to_owned()).or_default() += 1;
            }
        }
        calls.extend(counts.into_iter().map(|(tool, count)| JournaledCalls {
            run: run.id.to_string(),
            tool,
            count,
        }));
    }
    Ok((calls, runs.len()))
}

fn report(found: &Reconciled, runs: usize) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for missing in &found.missing {
        let _ = writeln!(
            text,
            "MISSING run {} called `{}` {} times; the log has {}",
            printable(&missing.run),
            printable(&missing.tool),
            missing.journaled,
            missing.logged
        );
    }
    for open in &found.open {
        let _ = writeln!(
            text,
            "unknown outcome: `{}` in run {} at {} ({} {})",
            printable(&open.subject),
            printable(&open.run),
            open.time,
            open.source,
            open.id
        );
    }
    let state = match found.missing.is_empty() {
        true => "complete",
        false => "NOT COMPLETE",
    };
    let _ = writeln!(
        text,
        "{state}: {} intents, {runs} journals, {} intents without an outcome",
        found.intents,
        found.open.len()
    );
    text
}
