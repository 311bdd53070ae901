//! What the runs of this process searched for and called, until it is made a trace of.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_protocol::{RunContext, RunId};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::observe_script::{ReturnedCall, ScriptObserver};

/// Runs that are kept at the same time; further ones leave no trace.
const MAX_RUNS: usize = 256;
/// Calls of a run that are kept.
const MAX_CALLS: usize = 200;
/// Searches of a run that are kept.
const MAX_QUERIES: usize = 5;
/// Bytes of arguments and results of a run that are kept.
const MAX_BYTES: usize = 1024 * 1024;
/// Bytes of one result: the values of a larger one are not looked at.
const MAX_RESULT_BYTES: usize = 128 * 1024;

/// A call that a script made.
#[derive(Debug)]
pub struct MadeCall {
    /// `server:tool`
    pub tool: String,
    /// Whether it succeeded.
    pub ok: bool,
    /// From the request to its answer.
    pub time: Duration,
    args: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
}

impl MadeCall {
    /// What the script wrote, with placeholders; null if it was too large to keep.
    pub fn args(&self) -> Value {
        parse(self.args.as_deref())
    }

    /// What the script got; null if the call failed, or if the result was too large to keep.
    pub fn result(&self) -> Value {
        parse(self.result.as_deref())
    }
}

fn parse(json: Option<&RawValue>) -> Value {
    json.and_then(|json| serde_json::from_str(json.get()).ok())
        .unwrap_or_default()
}

/// The searches and calls of one run.
#[derive(Debug)]
pub struct CallsOfRun {
    /// Whose run it was.
    pub run: RunContext,
    /// What was searched for, in the run or before it.
    pub queries: Vec<String>,
    /// In the order in which they ended.
    pub calls: Vec<MadeCall>,
    /// Whether the run ended well; `None` while it goes on.
    pub ok: Option<bool>,
    bytes: usize,
    began: Instant,
}

/// The searches and calls of runs, bounded in number and size.
#[derive(Debug, Default)]
pub struct RunCalls(Mutex<HashMap<RunId, CallsOfRun>>);

impl RunCalls {
    /// The run has ended. One without a call is forgotten.
    pub fn ended(&self, run: &RunId, ok: bool) {
        let mut runs = self.lock();
        match runs.get_mut(run) {
            Some(known) if known.calls.is_empty() => drop(runs.remove(run)),
            Some(known) => known.ok = Some(ok),
            None => {}
        }
    }

    /// Every run has ended: for a process that had one.
    pub fn all_ended(&self, ok: bool) {
        let runs: Vec<RunId> = self.lock().keys().cloned().collect();
        for run in runs {
            self.ended(&run, ok);
        }
    }

    /// The runs that have ended, each once.
    pub fn take_ended(&self) -> Vec<CallsOfRun> {
        let mut runs = self.lock();
        let ended = runs.extract_if(|_, run| run.ok.is_some());
        ended.map(|(_, run)| run).collect()
    }

    /// Whether a run has ended that [`RunCalls::take_ended`] would return.
    pub fn has_ended(&self) -> bool {
        self.lock().values().any(|run| run.ok.is_some())
    }

    fn with(&self, run: &RunContext, change: impl FnOnce(&mut CallsOfRun)) {
        let mut runs = self.lock();
        if runs.len() >= MAX_RUNS && !runs.contains_key(run.id()) {
            // A run that was cancelled never ends here. The oldest one makes room.
            let oldest = runs.values().min_by_key(|known| known.began);
            if let Some(oldest) = oldest.map(|known| known.run.id().clone()) {
                runs.remove(&oldest);
            }
        }
        let known = runs.entry(run.id().clone()).or_insert_with(|| CallsOfRun {
            run: run.clone(),
            queries: Vec::new(),
            calls: Vec::new(),
            ok: None,
            bytes: 0,
            began: Instant::now(),
        });
        change(known);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, CallsOfRun>> {
        // A call is added in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallsOfRun {
    /// A copy, if there is room for it.
    fn keep(&mut self, json: &RawValue) -> Option<Box<RawValue>> {
        let bytes = json.get().len();
        if bytes > MAX_RESULT_BYTES || self.bytes + bytes > MAX_BYTES {
            return None;
        }
        self.bytes += bytes;
        Some(json.to_owned())
    }
}

impl ScriptObserver for RunCalls {
    fn searched(&self, run: &RunContext, query: &str) {
        self.with(run, |known| {
            if known.queries.len() < MAX_QUERIES && known.queries.iter().all(|other| other != query)
            {
                known.queries.push(query.to_owned());
            }
        });
    }

    fn call_returned(&self, run: &RunContext, call: &ReturnedCall<'_>) {
        self.with(run, |known| {
            if known.calls.len() >= MAX_CALLS {
                return;
            }
            let args = known.keep(call.args);
            let result = call
                .result
                .as_ref()
                .ok()
                .and_then(|result| known.keep(result));
            known.calls.push(MadeCall {
                tool: call.tool.to_owned(),
                ok: call.result.is_ok(),
                time: call.time,
                args,
                result,
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use pml_protocol::to_result;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_without_calls_leaves_nothing_and_one_with_calls_is_taken_once() {
        let runs = RunCalls::default();
        let (silent, busy) = (RunContext::local(), RunContext::local());
        runs.searched(&silent, "read a file");
        runs.searched(&busy, "read a file");
        runs.searched(&busy, "read a file");
        let args = to_result(&json!({ "path": "a" })).unwrap();
        let result = to_result(&json!("text"));
        let call = ReturnedCall {
            tool: "fs:read",
            args: &args,
            result: &result,
            time: Duration::from_millis(3),
        };
        runs.call_returned(&busy, &call);
        assert!(!runs.has_ended());
        runs.ended(silent.id(), true);
        runs.ended(busy.id(), false);
        let taken = runs.take_ended();
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0].queries, ["read a file"]);
        assert_eq!(taken[0].ok, Some(false));
        assert_eq!(taken[0].calls[0].args(), json!({ "path": "a" }));
        assert_eq!(taken[0].calls[0].result(), "text");
        assert!(runs.take_ended().is_empty());
    }
}
