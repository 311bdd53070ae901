//! Turns the end of a run into its outcome.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use pml_protocol::{ErrorKind, Outcome, RunError};
use pml_script::{code_frame, habits};
use serde_json::value::RawValue;

/// Byte limits of the texts of an error. A compromised worker may send more.
const MAX_MESSAGE: usize = 16 * 1024;
const MAX_STACK: usize = 32 * 1024;
const MAX_HINT: usize = 1024;

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The worker has not said that it is ready.
    Starting,
    /// The worker translates the script.
    Parsing,
    /// The script runs.
    Running,
}

/// The outcome of a run that got no worker.
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
        error,
        ..Outcome::default()
    }
}

/// Shortens the texts of an error to their limits and adds the code frame.
pub fn explain(error: &mut RunError, source: &str) {
    if let Some(hint) = habit(error, source) {
        error.hint = Some(hint);
    }
    shorten(&mut error.message, MAX_MESSAGE);
    if let Some(stack) = &mut error.stack {
        shorten(stack, MAX_STACK);
    }
    if let Some(hint) = &mut error.hint {
        shorten(hint, MAX_HINT);
    }
    error.frame = error
        .line
        .and_then(|line| code_frame::render(source, line, error.column.unwrap_or(1)));
}

/// The hint for a mistake that comes from another language, from the message and the script.
fn habit(error: &RunError, source: &str) -> Option<String> {
    match error.kind {
        ErrorKind::Syntax => habits::syntax(source, error.line?).map(str::to_owned),
        ErrorKind::Runtime => {
            let name = error
                .message
                .strip_prefix("ReferenceError: ")
                .and_then(|rest| rest.strip_suffix(" is not defined"));
            match name {
                Some(name) => habits::undefined_name(name, source),
                None => habits::thrown(&error.message, source),
            }
        }
        _ => None,
    }
}

/// How far back a cut goes for the beginning of a word or number.
const MAX_CUT_BACK: usize = 1024;

/// Cuts a text before the word that the limit goes through, and before the numbers that are written
/// in groups before it: half a secret could not be recognised when the text is scrubbed.
fn shorten(text: &mut String, limit: usize) {
    if text.len() > limit {
        let limit = text.floor_char_boundary(limit);
        let window = &text[text.floor_char_boundary(limit.saturating_sub(MAX_CUT_BACK))..limit];
        let kept = match window.rfind(char::is_whitespace) {
            Some(end) => window[..end]
                .trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, ' ' | '-' | '.')),
            None => "",
        };
        text.truncate(limit - window.len() + kept.len());
        text.push('…');
    }
}

/// The error of a run whose worker died without a report.
pub fn crash_error(stage: Stage, status: Option<ExitStatus>) -> RunError {
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
        // The worker reports panics and failed checks of V8 before it aborts. An abort without a
        // report is an allocation that the kernel refused.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_secret_is_shown_where_a_message_is_cut() {
        for secret in ["ghp_a1b2c3d4e5f6a1b2c3d4e5f6", "4111 1111 1111 1111"] {
            for limit in 50..90 {
                let mut text = format!("{} {secret} {}", "a ".repeat(30), "b ".repeat(50));
                shorten(&mut text, limit);
                let part = &secret[..4];
                assert!(text.contains(secret) || !text.contains(part), "{text}");
                assert!(text.ends_with('…') && text.len() <= limit + '…'.len_utf8());
            }
        }
    }
}
