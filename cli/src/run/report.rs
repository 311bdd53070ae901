//! What a person sees of a run: logs and errors on standard error, the result on standard
//! output.

use std::io::{self, Write};

use pml_gateway::StartError;
use pml_replay::Source;
use pml_runtime::{ErrorKind, Level, LogLine, Outcome, RunError};
use serde::Serialize;
use serde_json::Value;

use super::backing::Rehearsal;
use crate::complain;
use crate::paint::Paint;

/// Characters of the arguments that a person is shown.
const MAX_ARGUMENTS: usize = 400;

pub fn print_json(outcome: &Outcome, rehearsal: Option<&Rehearsal>) -> io::Result<()> {
    #[derive(Serialize)]
    struct Envelope<'a> {
        #[serde(flatten)]
        outcome: Value,
        #[serde(flatten)]
        rehearsal: &'a Rehearsal,
    }
    let mut out = io::stdout().lock();
    match rehearsal {
        // The result is text that stays as it is; flattening would take it apart.
        None => serde_json::to_writer(&mut out, outcome)?,
        Some(rehearsal) => {
            let outcome = serde_json::to_value(outcome)?;
            serde_json::to_writer(&mut out, &Envelope { outcome, rehearsal })?
        }
    }
    writeln!(out)?;
    out.flush()
}

/// A log line, as it happens. A closed standard error is no reason to stop the script.
pub fn print_log(line: &LogLine, paint: Paint) {
    let text = &*paint.foreign(&line.text);
    let mut out = io::stderr().lock();
    let _ = match line.level {
        Level::Log | Level::Info => writeln!(out, "{text}"),
        Level::Debug => writeln!(out, "{}", paint.dim(text)),
        Level::Warn => writeln!(out, "{}", paint.yellow(text)),
        Level::Error => writeln!(out, "{}", paint.red(text)),
    };
}

/// What a dry run would have called. Standard output stays the result's.
pub fn print_rehearsal(rehearsal: &Rehearsal, paint: Paint) {
    let count = rehearsal.planned.len();
    let calls = if count == 1 { "call" } else { "calls" };
    let started = match rehearsal.started.as_slice() {
        [] => "no server is running".to_owned(),
        servers => format!("started to list their tools: {}", servers.join(", ")),
    };
    complain::line(format_args!(
        "{} {count} {calls}, nothing was sent; {started}",
        paint.cyan("dry run:")
    ));
    for call in &rehearsal.planned {
        let source = match (call.answer, &call.refused) {
            (_, Some(refused)) => paint.red(&format!("refused: {}", refused.message)),
            (Source::Fixture, None) => paint.dim("answered by a fixture"),
            (Source::Recording, None) => paint.dim("answered by the recording"),
            (Source::Example, None) => paint.dim("answered by an example of its output schema"),
            (Source::Observed, None) => paint.dim("answered by an example of earlier results"),
            (Source::Nothing | Source::Refusal, None) => {
                paint.yellow("answered null: nobody knows what it answers")
            }
        };
        complain::line(format_args!("  {} {}", call.tool, shorten(&call.args)));
        complain::line(format_args!("      {source}"));
    }
    for tool in &rehearsal.unused_fixtures {
        complain::warning(format_args!("the fixture for `{tool}` fits no call"));
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

/// Servers that a search had to do without: the script cannot know what it did not find.
pub fn print_problems(problems: &[(String, StartError)]) {
    for (server, problem) in problems {
        complain::warning(format_args!("no tools of server `{server}`: {problem}"));
    }
}

pub fn print(outcome: &Outcome, name: &str, paint: Paint) -> io::Result<()> {
    if let Some(error) = &outcome.error {
        return print_error(error, name, paint);
    }
    let Some(result) = &outcome.result else {
        return Ok(());
    };
    let mut out = io::stdout().lock();
    match serde_json::from_str::<Value>(result.get()) {
        // A string is most often text for people: no quotes.
        Ok(Value::String(text)) => writeln!(out, "{}", Paint::for_stdout().foreign(&text))?,
        Ok(value) => {
            serde_json::to_writer_pretty(&mut out, &value)?;
            writeln!(out)?;
        }
        Err(_) => writeln!(out, "{}", result.get())?,
    }
    out.flush()
}

fn print_error(error: &RunError, name: &str, paint: Paint) -> io::Result<()> {
    let mut out = io::stderr().lock();
    let place = match (error.line, error.column) {
        (Some(line), Some(column)) => format!(" {}", paint.dim(&format!("{name}:{line}:{column}"))),
        _ => String::new(),
    };
    let kind = match error.kind {
        ErrorKind::Runtime => String::new(),
        kind => format!(" {}", paint.dim(&format!("[{kind}]"))),
    };
    let message = paint.foreign(&error.message);
    let (first, more) = message.split_once('\n').unwrap_or((&message, ""));
    writeln!(out, "{} {first}{kind}{place}", paint.error())?;
    if !more.is_empty() {
        writeln!(out, "{more}")?;
    }
    if let Some(frame) = &error.frame {
        writeln!(out, "\n{}", paint.frame(&paint.foreign(frame)))?;
    }
    if let Some(stack) = &error.stack {
        // It begins with the message, and its only frame is the place shown above.
        let frames = stack.strip_prefix(&error.message).unwrap_or(stack);
        if frames.trim().lines().count() > 1 {
            let frames = paint.foreign(frames.trim_start_matches('\n'));
            writeln!(out, "\n{}", paint.dim(&frames))?;
        }
    }
    if let Some(hint) = &error.hint {
        writeln!(out, "\n{} {hint}", paint.cyan("hint:"))?;
    }
    out.flush()
}
