//! `pml runs`: the durable runs of the store.

mod list;
mod settle;
mod show;

use std::future::Future;
use std::io::{self, Write};
use std::path::Path;

use clap::{Args, Subcommand};
use pml_hosts::journal::UnknownCall;
use pml_protocol::{RunId, TenantId};
use pml_store::{RunState, Store, StoredRun};
use pml_units::HumanDuration;
use serde::Serialize;

use crate::config::{self, Settings};
use crate::exit::ExitCode;
use crate::store_setup::{self, StoreArgs};
use crate::style::Style;
use crate::{exit, interrupt};
pub use show::{ago, unix_ms};

/// List, show, cancel and settle durable runs
///
/// A durable run has a journal in the store. `pml run --durable` makes one, and so does every script of
/// `pml serve` that calls a tool, unless `pml.runs.durable` is false.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml runs                                        all runs, newest first\n  \
    pml runs show 5f3c…                             its calls, and what it waits for\n  \
    pml runs settle 5f3c… 7 --happened '{\"id\":1}'   call 7 happened, with this result\n  \
    pml runs cancel 5f3c…\n  \
    pml runs purge --older-than 7d")]
pub struct RunsArgs {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    list: list::ListArgs,

    #[command(flatten)]
    store: GlobalStoreArgs,
}

/// `--store` for all verbs.
#[derive(Args, Clone)]
struct GlobalStoreArgs {
    /// Where durable runs are stored: sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL", global = true)]
    store: Option<pml_store::StoreUrl>,
}

#[derive(Subcommand)]
enum Verb {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Cancel(CancelArgs),
    Settle(settle::SettleArgs),
    Purge(PurgeArgs),
}

/// End a run for good
///
/// A call that is under way may still happen. A run that another process executes ends at its next
/// call.
#[derive(Args)]
#[command(after_help = "Examples:\n  pml runs cancel nightly-1")]
struct CancelArgs {
    /// The id of the run
    #[arg(value_name = "ID")]
    id: RunId,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Delete runs that have ended
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml runs purge                     all that have ended\n  \
    pml runs purge --older-than 7d     those that ended more than 7 days ago")]
struct PurgeArgs {
    /// Only runs that ended longer ago than this, such as 7d or 12h
    #[arg(long, value_name = "TIME")]
    older_than: Option<HumanDuration>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &RunsArgs, config: Option<&Path>) -> ExitCode {
    let store = StoreArgs::new(args.store.store.clone());
    let done = with_store(&store, config, async |store, _| match &args.verb {
        None => list::list(store, &args.list).await,
        Some(Verb::List(list)) => list::list(store, list).await,
        Some(Verb::Show(show)) => show::show(store, show).await,
        Some(Verb::Cancel(args)) => cancel(store, args).await,
        Some(Verb::Settle(settle)) => settle::settle(store, settle).await,
        Some(Verb::Purge(args)) => purge(store, args).await,
    });
    done.unwrap_or_else(exit::usage_error)
}

/// Opens the store, runs `work` until it ends or is interrupted, and closes the store.
pub fn with_store(
    args: &StoreArgs,
    config: Option<&Path>,
    work: impl AsyncFnOnce(&Store, Settings) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let settings = config::load_settings(config)?;
    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    event_loop.block_on(async {
        let store = store_setup::open(args, &settings).await?;
        let done = closing(&store, interrupt::or(work(&store, settings))).await;
        done?.unwrap_or_else(|| Ok(exit::interrupted()))
    })
}

async fn closing<T>(store: &Store, work: impl Future<Output = T>) -> T {
    let done = work.await;
    // What the retention is for is not urgent: the next command tries again.
    let _ = store.maintain().await;
    store.close().await;
    done
}

async fn cancel(store: &Store, args: &CancelArgs) -> anyhow::Result<ExitCode> {
    let run = store.cancel(&TenantId::local(), &args.id).await?;
    match args.json {
        true => print_json(&RunSummary::of(&run, &[])),
        false => print_line(format_args!("run {} is cancelled", args.id)),
    }
}

async fn purge(store: &Store, args: &PurgeArgs) -> anyhow::Result<ExitCode> {
    let age = args.older_than.map_or(0, HumanDuration::as_millis);
    let before = show::unix_ms().saturating_sub(age);
    let purged = store.purge(&TenantId::local(), before).await?;
    #[derive(Serialize)]
    struct Purged {
        purged: u64,
    }
    match args.json {
        true => print_json(&Purged { purged }),
        false => {
            let runs = if purged == 1 { "run" } else { "runs" };
            print_line(format_args!("deleted {purged} {runs}"))
        }
    }
}

/// A run as lists show it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunSummary<'a> {
    id: &'a RunId,
    state: &'static str,
    /// What a waiting run waits for: an approval, or to be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for: Option<&'static str>,
    script: &'a str,
    origin: &'a str,
    principal: &'a str,
    created: u64,
    updated: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<u64>,
}

impl<'a> RunSummary<'a> {
    fn of(run: &'a StoredRun, unknown: &[UnknownCall]) -> Self {
        Self::with_unknown(run, !unknown.is_empty())
    }

    fn with_unknown(run: &'a StoredRun, has_unknown: bool) -> Self {
        let (state, waits_for) = state_of(run, has_unknown);
        Self {
            id: &run.id,
            state: state.as_str(),
            waits_for,
            script: &run.script,
            origin: &run.origin,
            principal: &run.principal,
            created: run.created,
            updated: run.updated,
            ended: run.ended,
        }
    }
}

/// The state of a run and what it waits for. A process that was killed could not say what it left.
fn state_of(run: &StoredRun, has_unknown: bool) -> (RunState, Option<&'static str>) {
    match run.state {
        RunState::Running | RunState::Waiting | RunState::Unknown if run.is_owned => {
            (RunState::Running, None)
        }
        RunState::Running | RunState::Unknown | RunState::Waiting if has_unknown => {
            (RunState::Unknown, Some("settlement"))
        }
        RunState::Waiting if run.reason.as_deref() == Some("approval") => {
            (RunState::Waiting, Some("approval"))
        }
        RunState::Running | RunState::Waiting | RunState::Unknown => {
            (RunState::Waiting, Some("resume"))
        }
        ended => (ended, None),
    }
}

pub fn print_json(value: &impl Serialize) -> anyhow::Result<ExitCode> {
    let mut out = Style::escaped_stdout();
    let printed = serde_json::to_writer_pretty(&mut out, value)
        .map_err(io::Error::from)
        .and_then(|()| writeln!(out))
        .and_then(|()| out.flush());
    exit::check_pipe(printed)?;
    Ok(ExitCode::SUCCESS)
}

fn print_line(line: impl std::fmt::Display) -> anyhow::Result<ExitCode> {
    let mut out = Style::escaped_stdout();
    exit::check_pipe(writeln!(out, "{line}").and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}
