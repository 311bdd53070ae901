//! Printing a run: logs and errors on standard error, the result on standard output.

use std::io::{self, Write};

use pml_gateway::StartError;
use pml_hosts::AnswerSource;
use pml_protocol::{ErrorKind, Level, LogLine, Outcome, RunError};
use serde::Serialize;
use serde_json::Value;

use super::run_tools::DryRunPlan;
use crate::diagnostics;
use crate::style::Style;

/// How many characters of the arguments are shown.
const MAX_ARGUMENTS: usize = 400;

pub fn print_json(outcome: &Outcome, plan: Option<&DryRunPlan>) -> io::Result<()> {
    #[derive(Serialize)]
    struct Envelope<'a> {
        #[serde(flatten)]
        outcome: Value,
        #[serde(flatten)]
        plan: &'a DryRunPlan,
    }
    let mut out = io::stdout().lock();
    match plan {
        // The result is raw JSON, which flattening cannot carry.
        None => serde_json::to_writer(&mut out, outcome)?,
        Some(plan) => {
            let outcome = serde_json::to_value(outcome)?;
            serde_json::to_writer(&mut out, &Envelope { outcome, plan })?
        }
    }
    writeln!(out)?;
    out.flush()
}

/// Prints a log line. A closed standard error does not stop the script.
pub fn print_log(line: &LogLine, style: Style) {
    let text = &*style.escape_controls(&line.text);
    let mut out = io::stderr().lock();
    let _ = match line.level {
        Level::Log | Level::Info => writeln!(out, "{text}"),
        Level::Debug => writeln!(out, "{}", style.dim(text)),
        Level::Warn => writeln!(out, "{}", style.yellow(text)),
        Level::Error => writeln!(out, "{}", style.red(text)),
    };
}

/// Prints the plan of a dry run, on standard error: standard output is for the result.
pub fn print_plan(plan: &DryRunPlan, style: Style) {
    let count = plan.planned.len();
    let calls = if count == 1 { "call" } else { "calls" };
    let started = match plan.started.as_slice() {
        [] => "no server is running".to_owned(),
        servers => format!("started to list their tools: {}", servers.join(", ")),
    };
    diagnostics::line(format_args!(
        "{} {count} {calls}, nothing was sent; {started}",
        style.cyan("dry run:")
    ));
    for call in &plan.planned {
        let source = match (call.answer, &call.refused) {
            (_, Some(refused)) => style.red(&format!("refused: {}", refused.message)),
            (AnswerSource::Fixture, None) => style.dim("answered by a fixture"),
            (AnswerSource::Recording, None) => style.dim("answered by the recording"),
            (AnswerSource::Example, None) => {
                style.dim("answered by an example of its output schema")
            }
            (AnswerSource::Observed, None) => {
                style.dim("answered by an example of earlier results")
            }
            (AnswerSource::Nothing | AnswerSource::Refusal, None) => {
                style.yellow("answered null: nothing is known of its results")
            }
        };
        diagnostics::line(format_args!("  {} {}", call.tool, shorten(&call.args)));
        diagnostics::line(format_args!("      {source}"));
        for note in &call.guards {
            let verdict = style.yellow(note.verdict.as_str());
            diagnostics::line(format_args!("      {verdict}: {note}"));
        }
    }
    for tool in &plan.unused_fixtures {
        diagnostics::warning(format_args!("the fixture for `{tool}` fits no call"));
    }
}

/// The arguments on one line of a terminal.
fn shorten(args: &Value) -> String {
    let text = args.to_string();
    match text.char_indices().nth(MAX_ARGUMENTS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Prints the servers that a search could not see: the script cannot know what it missed.
pub fn print_problems(problems: &[(String, StartError)]) {
    for (server, problem) in problems {
        diagnostics::warning(format_args!("no tools of server `{server}`: {problem}"));
    }
}

/// Prints the calls that were sent and that `enforce` would refuse. Those that were refused are errors that the
/// script has seen.
pub fn print_crossings(outcome: &Outcome) {
    let report = outcome.labels.iter();
    for crossing in report.flat_map(|report| &report.crossings) {
        if !crossing.refused {
            diagnostics::warning(format_args!(
                "with `pml.labels.mode` enforce this call would be refused: {}",
                crossing.path
            ));
        }
    }
}

pub fn print(outcome: &Outcome, name: &str, style: Style) -> io::Result<()> {
    if let Some(error) = &outcome.error {
        return print_error(error, name, style);
    }
    let Some(result) = &outcome.result else {
        return Ok(());
    };
    let mut out = io::stdout().lock();
    match serde_json::from_str::<Value>(result.get()) {
        // A string is most often text for a person: no quotes.
        Ok(Value::String(text)) => writeln!(out, "{}", Style::for_stdout().escape_controls(&text))?,
        Ok(value) => {
            serde_json::to_writer_pretty(&mut out, &value)?;
            writeln!(out)?;
        }
        Err(_) => writeln!(out, "{}", result.get())?,
    }
    out.flush()
}

fn print_error(error: &RunError, name: &str, style: Style) -> io::Result<()> {
    let mut out = io::stderr().lock();
    let place = match (error.line, error.column) {
        (Some(line), Some(column)) => format!(" {}", style.dim(&format!("{name}:{line}:{column}"))),
        _ => String::new(),
    };
    let kind = match error.kind {
        ErrorKind::Runtime => String::new(),
        kind => format!(" {}", style.dim(&format!("[{kind}]"))),
    };
    let message = style.escape_controls(&error.message);
    let (first, more) = message.split_once('\n').unwrap_or((&message, ""));
    writeln!(out, "{} {first}{kind}{place}", style.error())?;
    if !more.is_empty() {
        writeln!(out, "{more}")?;
    }
    if let Some(frame) = &error.frame {
        writeln!(out, "\n{}", style.frame(&style.escape_controls(frame)))?;
    }
    if let Some(stack) = &error.stack {
        // It begins with the message, and its first frame is the place shown above.
        let frames = stack.strip_prefix(&error.message).unwrap_or(stack);
        if frames.trim().lines().count() > 1 {
            let frames = style.escape_controls(frames.trim_start_matches('\n'));
            writeln!(out, "\n{}", style.dim(&frames))?;
        }
    }
    if let Some(hint) = &error.hint {
        writeln!(out, "\n{} {hint}", style.cyan("hint:"))?;
    }
    out.flush()
}
