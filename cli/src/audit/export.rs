//! `pml audit export`.

use std::path::Path;

use clap::{Args, ValueEnum};
use pml_audit::{AuditFolder, LogEntry};

use super::filter::FilterArgs;
use super::print;
use crate::exit::ExitCode;

/// Print all events, or those that fit, for other programs
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml audit export > events.jsonl\n  \
    pml audit export --format cloudevents --since 24h | curl --json @- https://example.com/events\n  \
    pml audit export --format csv --type pml.call")]
pub struct ExportArgs {
    /// A line of JSON per event, a table, or one JSON array (a CloudEvents batch)
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,

    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Jsonl,
    Csv,
    Cloudevents,
}

/// The columns of the table.
const COLUMNS: [&str; 10] = [
    "time",
    "type",
    "subject",
    "tenant",
    "principal",
    "session",
    "runid",
    "traceparent",
    "source",
    "id",
];

pub fn export(args: &ExportArgs, folder: &Path) -> anyhow::Result<ExitCode> {
    let found = AuditFolder::open(folder)?.query(&args.filter.filter())?;
    let texts = found.iter().map(|entry| entry.text.as_str());
    print(&match args.format {
        Format::Jsonl => texts.map(|text| format!("{text}\n")).collect(),
        Format::Cloudevents => format!("[{}]\n", texts.collect::<Vec<_>>().join(",\n")),
        Format::Csv => table(&found),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn table(entries: &[LogEntry]) -> String {
    let mut rows = format!("{},data\n", COLUMNS.join(","));
    for LogEntry { event, .. } in entries {
        for column in COLUMNS {
            rows += &cell(event[column].as_str().unwrap_or_default());
            rows.push(',');
        }
        rows += &cell(&event["data"].to_string());
        rows.push('\n');
    }
    rows
}

/// A quoted cell. A spreadsheet would execute text that begins like a formula.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if formula { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_are_no_formulas() {
        assert_eq!(cell("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
        assert_eq!(cell("=HYPERLINK(1)"), "\"'=HYPERLINK(1)\"");
    }
}
