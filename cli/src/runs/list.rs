//! `pml runs list`.

use std::io::Write;

use clap::Args;
use pml_hosts::journal::unknown_calls;
use pml_protocol::TenantId;
use pml_store::{RunFilter, RunState, Store, StoredRun};
use serde::Serialize;

use super::show::ago;
use super::{RunSummary, print_json, state_of};
use crate::exit::{self, ExitCode};
use crate::style::Style;

/// List the runs, newest first
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml runs list --state waiting --state unknown\n  \
    pml runs list --json | jq -r '.runs[].id'")]
pub struct ListArgs {
    /// Only runs in this state: running, waiting, unknown, done, failed or cancelled
    #[arg(long = "state", value_name = "STATE", value_parser = parse_state)]
    states: Vec<RunState>,

    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

fn parse_state(text: &str) -> Result<RunState, String> {
    let named = RunState::ALL
        .into_iter()
        .find(|state| state.as_str() == text);
    named.ok_or_else(|| "expected running, waiting, unknown, done, failed or cancelled".to_owned())
}

pub async fn list(store: &Store, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let tenant = TenantId::local();
    // The state that is shown depends on whether the owner lives, so it is not filtered by the store.
    let filter = RunFilter {
        limit: match args.states.is_empty() {
            true => args.limit,
            false => 0,
        },
        ..RunFilter::default()
    };
    let mut runs: Vec<(StoredRun, bool)> = Vec::new();
    for run in store.runs(&tenant, &filter).await? {
        let is_open = !run.is_owned
            && matches!(
                run.state,
                RunState::Running | RunState::Waiting | RunState::Unknown
            );
        let has_unknown = match is_open {
            true => !unknown_calls(&store.journal(&tenant, &run.id).await?).is_empty(),
            false => false,
        };
        if args.states.is_empty() || args.states.contains(&state_of(&run, has_unknown).0) {
            runs.push((run, has_unknown));
        }
    }
    runs.truncate(args.limit);
    match args.json {
        true => print_all_json(&runs),
        false => print(&runs),
    }
}

fn print_all_json(runs: &[(StoredRun, bool)]) -> anyhow::Result<ExitCode> {
    #[derive(Serialize)]
    struct Runs<'a> {
        runs: Vec<RunSummary<'a>>,
    }
    let runs = runs
        .iter()
        .map(|(run, unknown)| RunSummary::with_unknown(run, *unknown));
    print_json(&Runs {
        runs: runs.collect(),
    })
}

fn print(runs: &[(StoredRun, bool)]) -> anyhow::Result<ExitCode> {
    let mut out = Style::escaped_stdout();
    let width = runs
        .iter()
        .map(|(run, _)| run.id.as_str().len())
        .max()
        .unwrap_or_default();
    let mut printed = Ok(());
    for (run, has_unknown) in runs {
        let (state, waits_for) = state_of(run, *has_unknown);
        let waits = waits_for.map_or(String::new(), |what| format!(" (waits for {what})"));
        printed = printed.and_then(|()| {
            writeln!(
                out,
                "{:width$}  {:<9}  {:>8}  {}{waits}",
                run.id.as_str(),
                state.as_str(),
                ago(run.created),
                run.script,
            )
        });
    }
    if runs.is_empty() {
        printed = writeln!(
            out,
            "there are no durable runs; `pml run --durable script.ts` makes one"
        );
    }
    exit::check_pipe(printed.and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}
