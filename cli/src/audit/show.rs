//! `pml audit tail` and `pml audit query`.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use pml_audit::{AuditFolder, Filter, LogEntry};
use serde_json::Value;

use super::filter::FilterArgs;
use super::print;
use crate::exit::ExitCode;

/// How often new events are looked for.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(300);

/// Show the newest events
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml audit tail\n  \
    pml audit tail -n 100 --json\n  \
    pml audit tail --follow")]
pub struct TailArgs {
    /// How many
    #[arg(short = 'n', long, default_value_t = 20)]
    lines: usize,

    /// Wait for further events
    #[arg(short, long)]
    follow: bool,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Show the events that fit
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml audit query --type pml.call.denied\n  \
    pml audit query --tool fs:write_file --since 24h --json\n  \
    pml audit query --since 2026-02-01 --until 2026-02-02T12:00\n  \
    pml audit query --trace 0af7651916cd43dd8448eb211c80319c")]
pub struct QueryArgs {
    #[command(flatten)]
    filter: FilterArgs,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn query(args: &QueryArgs, folder: &Path) -> anyhow::Result<ExitCode> {
    let found = AuditFolder::open(folder)?.query(&args.filter.filter())?;
    print(&lines(&found, args.json))?;
    Ok(ExitCode::SUCCESS)
}

pub fn tail(args: &TailArgs, folder: &Path) -> anyhow::Result<ExitCode> {
    let last = Filter {
        last: Some(args.lines),
        ..Filter::default()
    };
    let mut shown = AuditFolder::open(folder)?.query(&last)?;
    print(&lines(&shown, args.json))?;
    if !args.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::sleep(FOLLOW_INTERVAL);
        let newer = Filter {
            since: shown.last().map(|entry| entry.time().to_owned()),
            ..Filter::default()
        };
        let known: HashSet<&str> = shown.iter().map(|entry| entry.text.as_str()).collect();
        let mut found = AuditFolder::open(folder)?.query(&newer)?;
        found.retain(|entry| !known.contains(entry.text.as_str()));
        print(&lines(&found, args.json))?;
        // Events of the same microsecond may come one after the other.
        shown.extend(found);
        if let Some(last) = shown.last().map(|entry| entry.time().to_owned()) {
            shown.retain(|entry| entry.time() == last);
        }
    }
}

/// A line per event.
fn lines(entries: &[LogEntry], as_json: bool) -> String {
    let line = |entry: &LogEntry| match as_json {
        true => format!("{}\n", entry.text),
        false => format!("{}\n", summary(&entry.event)),
    };
    entries.iter().map(line).collect()
}

/// Time, type, subject, who and how it went.
fn summary(event: &Value) -> String {
    let text = |key: &str| event[key].as_str().unwrap_or("-");
    let data = &event["data"];
    let how = match (
        &data["ok"],
        data["error"].as_str(),
        data["decision"].as_str(),
    ) {
        (_, _, Some(decision)) => decision.to_owned(),
        (_, Some(error), _) => error.to_owned(),
        (Value::Bool(true), ..) => "ok".to_owned(),
        _ => String::new(),
    };
    let ms = data["ms"].as_f64().or(data["wallMs"].as_f64());
    let ms = ms.map(|ms| format!(" {ms} ms")).unwrap_or_default();
    let line = format!(
        "{} {:<22} {:<28} {:<12} {how}{ms}",
        text("time"),
        text("type"),
        text("subject"),
        text("principal"),
    );
    // Names come from servers and scripts.
    pml_gateway::printable(line.trim_end()).to_string()
}
