//! Calls whose outcome is unknown: what a person reads, and what they answer.

use pml_protocol::{ErrorKind, Failure, FailureKind, Flow, RunError, RunId};
use pml_store::{EntryState, JournalEntry};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::entry;
use super::run_journal::called_tool;

/// A call whose outcome is unknown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnknownCall {
    /// Its number in the run, for `pml runs settle`.
    pub call: u32,
    /// `server:tool`
    pub tool: String,
    /// Its arguments, with placeholders.
    pub args: Value,
}

/// Why a run waits for a person to say what became of a request.
pub(super) fn unsettled(id: &RunId, number: u32, title: &str, why: &str) -> RunError {
    let what = match title.strip_prefix("call ") {
        Some(tool) => format!("call {number} of run {id} (`{tool}`)"),
        None => format!("request {number} of run {id}"),
    };
    let message = format!(
        "the outcome of {what} is unknown: {why}. Look whether it happened; then `pml runs settle {id} {number} --happened JSON`, `--send` or `--give-up`, and `pml resume {id}`"
    );
    RunError::new(ErrorKind::Unknown, message)
}

/// Whether a journaled request may have happened and must not happen twice.
pub(super) fn is_unknown(entry: &JournalEntry) -> bool {
    entry.state == EntryState::Intended && entry.class.is_none_or(|class| !class.is_repeatable())
}

/// The calls of a journal whose outcome is unknown.
pub fn unknown_calls(entries: &[JournalEntry]) -> Vec<UnknownCall> {
    let unknown = entries.iter().filter(|entry| is_unknown(entry));
    unknown
        .map(|entry| UnknownCall {
            call: entry.number,
            tool: called_tool(entry).to_owned(),
            args: entry::arguments(entry::request_from_bytes(&entry.request)),
        })
        .collect()
}

/// The journal's form of the result of a call that happened, given as JSON.
///
/// # Errors
///
/// A text that is not JSON.
pub fn happened(json: &str) -> Result<Vec<u8>, serde_json::Error> {
    let value: Box<RawValue> = serde_json::from_str(json)?;
    Ok(entry::answer_to_bytes(&Ok(value), &Flow::default()))
}

/// The journal's form of the answer to a call that is given up.
pub fn given_up() -> Vec<u8> {
    let message = "the outcome of this call is unknown, and a person gave it up";
    let given_up = Err(Failure::new(FailureKind::Cancelled, message));
    entry::answer_to_bytes(&given_up, &Flow::default())
}
