//! `pml runs show`: the calls of a run, what it waits for, and what is unknown.

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use pml_hosts::journal::{UnknownCall, called_tool, journaled_request, unknown_calls};
use pml_protocol::{LabelReport, Outcome, RunId, TenantId};
use pml_store::{
    ApprovalFilter, EntryState, JournalEntry, Store, StoreError, StoredApproval, StoredRun,
};
use serde::Serialize;
use serde_json::Value;

use super::{RunSummary, print_json, state_of};
use crate::exit::{self, ExitCode};
use crate::style::Style;

/// How many characters of the arguments are shown on a line.
const MAX_ARGUMENTS: usize = 120;

/// Show a run: its calls, where it waits, and what is unknown
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml runs show nightly-1\n  \
    pml runs show nightly-1 --json | jq .unknown")]
pub struct ShowArgs {
    /// The id of the run
    #[arg(value_name = "ID")]
    id: RunId,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// A run with everything that is known about it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownRun<'a> {
    #[serde(flatten)]
    summary: RunSummary<'a>,
    calls: Vec<ShownEntry<'a>>,
    unknown: &'a [UnknownCall],
    approvals: Vec<ShownApproval<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<LabelReport>,
}

#[derive(Serialize)]
struct ShownEntry<'a> {
    call: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'static str>,
    state: &'static str,
    #[serde(skip_serializing_if = "Value::is_null")]
    args: Value,
}

#[derive(Serialize)]
struct ShownApproval<'a> {
    id: &'a str,
    call: u32,
    tool: &'a str,
    state: &'static str,
    expires: u64,
}

pub async fn show(store: &Store, args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let tenant = TenantId::local();
    let run = store.run(&tenant, &args.id).await?;
    let run = run.ok_or_else(|| StoreError::NotFound {
        id: args.id.clone(),
    })?;
    let entries = store.journal(&tenant, &args.id).await?;
    let filter = ApprovalFilter {
        run: Some(args.id.clone()),
        ..ApprovalFilter::default()
    };
    let approvals = store.approvals(&tenant, &filter).await?;
    // What is in flight in a run that is being executed is not unknown.
    let unknown = match run.is_owned {
        true => Vec::new(),
        false => unknown_calls(&entries),
    };
    match args.json {
        true => print_json(&ShownRun {
            summary: RunSummary::of(&run, &unknown),
            calls: entries.iter().map(|entry| shown(entry, &unknown)).collect(),
            unknown: &unknown,
            approvals: approvals.iter().map(shown_approval).collect(),
            labels: labels_of(&run),
        }),
        false => {
            exit::check_pipe(print(&run, &entries, &unknown, &approvals))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// What a run that has ended had read, and where it went.
fn labels_of(run: &StoredRun) -> Option<LabelReport> {
    let outcome: Outcome = serde_json::from_slice(run.outcome.as_deref()?).ok()?;
    outcome.labels
}

fn shown<'a>(entry: &'a JournalEntry, unknown: &[UnknownCall]) -> ShownEntry<'a> {
    let is_call = entry.title.starts_with("call ");
    ShownEntry {
        call: entry.number,
        tool: is_call.then(|| called_tool(entry)),
        request: (!is_call).then_some(&entry.title),
        class: entry.class.map(|class| class.as_str()),
        state: state_of_entry(entry, unknown),
        args: match (is_call, journaled_request(entry)) {
            (true, Some(request)) => request.details(),
            _ => Value::Null,
        },
    }
}

fn shown_approval(approval: &StoredApproval) -> ShownApproval<'_> {
    ShownApproval {
        id: &approval.id,
        call: approval.asked.number,
        tool: &approval.asked.tool,
        state: approval.state.as_str(),
        expires: approval.asked.expires,
    }
}

fn state_of_entry(entry: &JournalEntry, unknown: &[UnknownCall]) -> &'static str {
    match entry.state {
        EntryState::Answered => "answered",
        EntryState::Resend => "to be sent",
        EntryState::Intended if unknown.iter().any(|call| call.call == entry.number) => "unknown",
        EntryState::Intended => "sent",
    }
}

fn print(
    run: &StoredRun,
    entries: &[JournalEntry],
    unknown: &[UnknownCall],
    approvals: &[StoredApproval],
) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    let (state, waits_for) = state_of(run, !unknown.is_empty());
    let waits = waits_for.map_or(String::new(), |what| format!(", waits for {what}"));
    writeln!(out, "run {}: {}{waits}", run.id, state.as_str())?;
    writeln!(
        out,
        "  {} by {}, begun {} ago, changed {} ago",
        run.script,
        run.principal,
        ago(run.created),
        ago(run.updated)
    )?;
    let labels = labels_of(run).unwrap_or_default();
    if !labels.read.is_clean() {
        writeln!(out, "  has read data that is {}", labels.read.label())?;
    }
    for crossing in &labels.crossings {
        let what = match crossing.refused {
            true => "refused",
            false => "would be refused with `enforce`",
        };
        writeln!(out, "  flow {}: {what}", crossing.path)?;
    }
    for entry in entries {
        let class = entry.class.map_or("", |class| class.as_str());
        writeln!(
            out,
            "  {:>4}  {:<10}  {:<10}  {}  {}",
            entry.number,
            state_of_entry(entry, unknown),
            class,
            called_tool(entry),
            arguments(entry),
        )?;
    }
    for approval in approvals {
        writeln!(
            out,
            "  approval {}: {} of call {} ({})",
            approval.id,
            approval.asked.tool,
            approval.asked.number,
            approval.state.as_str()
        )?;
    }
    let id = &run.id;
    for call in unknown {
        writeln!(
            out,
            "\ncall {0} of {1} was sent, and its answer was lost. Look whether it happened, then one of\n  \
             pml runs settle {id} {0} --happened 'RESULT AS JSON'\n  \
             pml runs settle {id} {0} --send\n  \
             pml runs settle {id} {0} --give-up",
            call.call, call.tool
        )?;
    }
    match waits_for {
        Some("resume") => writeln!(out, "\n`pml resume {id}` continues it")?,
        Some("approval") => writeln!(
            out,
            "\n`pml approvals` shows what it waits for; then `pml resume {id}`"
        )?,
        _ => {}
    }
    out.flush()
}

fn arguments(entry: &JournalEntry) -> String {
    let Some(request) = journaled_request(entry) else {
        return String::new();
    };
    let text = request.details().to_string();
    match text.char_indices().nth(MAX_ARGUMENTS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The time since a moment, roughly.
pub fn ago(moment: u64) -> String {
    let seconds = unix_ms().saturating_sub(moment) / 1_000;
    match seconds {
        0..=119 => format!("{seconds}s"),
        120..=7_199 => format!("{}m", seconds / 60),
        7_200..=172_799 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Milliseconds since 1970.
pub fn unix_ms() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
