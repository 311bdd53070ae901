//! From the end of a run to its outcome.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde_json::value::RawValue;

use super::hint::hint;
use crate::frame;
use crate::outcome::{ErrorKind, Outcome, RunError, Stats, Truncated};

/// Bytes of an error's message and stack, whatever the worker says.
const MAX_MESSAGE: usize = 16 * 1024;
const MAX_STACK: usize = 32 * 1024;

/// How far a run had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Starting,
    Parsing,
    Running,
}

/// The outcome where there was no worker to run anything.
pub fn failed_to_start(reason: &str) -> Outcome {
    outcome_of(Err(RunError::new(ErrorKind::Internal, reason)))
}

pub fn outcome_of(result: Result<Option<Box<RawValue>>, RunError>) -> Outcome {
    let (result, error) = match result {
        Ok(value) => (value, None),
        Err(error) => (None, Some(error)),
    };
    Outcome {
        ok: error.is_none(),
        result,
        logs: Vec::new(),
        calls: Vec::new(),
        redactions: Default::default(),
        truncated: None,
        stats: Stats::default(),
        error,
    }
}

/// Puts the finishing touches to an error: its place in the script, and a hint.
pub fn explain(error: &mut RunError, source: &str) {
    shorten(&mut error.message, MAX_MESSAGE);
    if let Some(stack) = &mut error.stack {
        shorten(stack, MAX_STACK);
    }
    error.frame = error
        .line
        .and_then(|line| frame::render(source, line, error.column.unwrap_or(1)));
    error.hint = hint(error).map(str::to_owned);
}

/// Cuts a text of the worker's at a character.
fn shorten(text: &mut String, limit: usize) {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push('…');
    }
}

/// What a worker died of, when it could not say.
pub fn obituary(stage: Stage, status: Option<ExitStatus>) -> RunError {
    let cause = match status.map(|status| (status.signal(), status.code())) {
        Some((Some(signal), _)) => format!("signal {signal}"),
        Some((None, Some(code))) => format!("exit code {code}"),
        _ => "an unknown cause".to_owned(),
    };
    match stage {
        Stage::Starting => RunError::new(
            ErrorKind::Internal,
            format!("the worker died while it started, of {cause}"),
        ),
        Stage::Parsing => RunError::new(
            ErrorKind::Syntax,
            "the script nests too deeply to be parsed",
        ),
        // A panic and V8's own checks are announced; what is left is memory that the kernel
        // would not give.
        Stage::Running if status.and_then(|status| status.signal()) == Some(libc::SIGABRT) => {
            RunError::new(
                ErrorKind::Memory,
                "the script needs more memory than a worker may have",
            )
        }
        Stage::Running => RunError::new(
            ErrorKind::Internal,
            format!("the worker died while the script ran, of {cause}"),
        ),
    }
}

/// Takes back a result that is too large.
pub fn limit_output(outcome: &mut Outcome, limit: u64) {
    let Some(result) = &outcome.result else {
        return;
    };
    let bytes = result.get().len() as u64;
    // Characters are never more than bytes, so most results need no counting.
    if bytes <= limit {
        return;
    }
    let chars = result.get().chars().count() as u64;
    if chars <= limit {
        return;
    }
    outcome.ok = false;
    outcome.result = None;
    outcome.truncated = Some(Truncated { bytes });
    outcome.error = Some(RunError::new(
        ErrorKind::Output,
        format!("the result has {chars} characters; the limit is {limit}"),
    ));
}
