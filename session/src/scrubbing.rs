//! The outcome of a run without personal data and secrets.

use pml_runtime::{ErrorKind, Outcome, RunError};
use pml_scrub::{Report, ScrubError, Scrubbed, Session};
use serde_json::Value;
use serde_json::value::to_raw_value;

/// Everything of an outcome that a script or a tool had words in. Where the policy blocks a
/// value, nothing of the run is left but the refusal.
pub fn scrub(names: &mut Session, mut outcome: Outcome) -> Outcome {
    match replace(names, &mut outcome) {
        Ok(report) => {
            for (kind, count) in report.counts() {
                let count = u32::try_from(*count).unwrap_or(u32::MAX);
                outcome.redactions.insert(kind.to_string(), count);
            }
        }
        Err(blocked) => {
            outcome.ok = false;
            outcome.result = None;
            outcome.logs.clear();
            outcome.calls.clear();
            outcome.error = Some(RunError::new(ErrorKind::Denied, blocked.to_string()));
        }
    }
    outcome
}

fn replace(names: &mut Session, outcome: &mut Outcome) -> Result<Report, ScrubError> {
    let mut report = Report::default();
    if let Some(result) = &outcome.result {
        // The result came as JSON, and what is scrubbed stays JSON.
        let value: Value = serde_json::from_str(result.get()).unwrap_or_default();
        let value = take(names.scrub_json(value, None)?, &mut report);
        outcome.result = to_raw_value(&value).ok();
    }
    let lines: Vec<String> = outcome.logs.iter().map(|line| line.text.clone()).collect();
    let lines = take(names.scrub_lines(&lines, None)?, &mut report);
    for (line, text) in outcome.logs.iter_mut().zip(lines) {
        line.text = text;
    }
    if let Some(error) = &mut outcome.error {
        let texts = [&mut error.frame, &mut error.stack, &mut error.hint];
        for text in texts.into_iter().flatten() {
            *text = take(names.scrub_text(text, None)?, &mut report);
        }
        error.message = take(names.scrub_text(&error.message, None)?, &mut report);
    }
    // An id is what the script called, whether there is such a tool or not.
    for call in &mut outcome.calls {
        call.tool = take(names.scrub_text(&call.tool, None)?, &mut report);
    }
    Ok(report)
}

fn take<T>(scrubbed: Scrubbed<T>, report: &mut Report) -> T {
    let (value, found) = scrubbed.into_parts();
    report.merge(found);
    value
}
