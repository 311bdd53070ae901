//! What layers make for a run and say about it: calls of plans and streams, which are no requests of its
//! script, and warnings about calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::outcome::{CallRecord, millis};
use crate::run_context::RunContext;

/// Warnings that are kept.
const MAX_WARNINGS: usize = 100;
/// Calls that are kept. A plan of very many tasks makes more, of which its report has the states.
const MAX_KEPT: usize = 20_000;

/// The calls that layers made for one run, and their warnings. Cheap to clone; clones are the same lists.
#[derive(Debug, Clone, Default)]
pub struct MadeCalls(Arc<Mutex<Made>>);

#[derive(Debug, Default)]
struct Made {
    calls: Vec<CallRecord>,
    warnings: Vec<String>,
}

impl MadeCalls {
    /// Adds calls. Beyond the first 20,000 they are dropped.
    pub fn add(&self, calls: impl IntoIterator<Item = CallRecord>) {
        let mut kept = self.lock();
        let room = MAX_KEPT.saturating_sub(kept.calls.len());
        kept.calls.extend(calls.into_iter().take(room));
    }

    /// The calls so far, which are forgotten here.
    pub fn take(&self) -> Vec<CallRecord> {
        std::mem::take(&mut self.lock().calls)
    }

    /// Adds a warning about a call, for the log of the run. Beyond the first 100 they are dropped.
    pub fn warn(&self, warning: String) {
        let mut kept = self.lock();
        if kept.warnings.len() < MAX_WARNINGS {
            kept.warnings.push(warning);
        }
    }

    /// The warnings so far, which are forgotten here.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().warnings)
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        // Entries are only appended and taken.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that a layer makes for a run. It is noted when it ends; one that is dropped is noted as failed.
#[derive(Debug)]
pub struct MadeCall {
    tool: String,
    run: RunContext,
    began: Instant,
    ok: bool,
}

impl MadeCall {
    /// A call of `tool` that begins now. `run` is the context of its request.
    pub fn begin(tool: &str, run: &RunContext) -> Self {
        Self {
            tool: tool.to_owned(),
            run: run.clone(),
            began: Instant::now(),
            ok: false,
        }
    }

    /// The call was answered; `ok` with a value.
    pub fn end(mut self, ok: bool) {
        self.ok = ok;
    }
}

impl Drop for MadeCall {
    fn drop(&mut self) {
        let time = match (self.run.dispatched_at(), self.ok) {
            (Some(dispatched), _) => dispatched.elapsed(),
            // The host does not queue.
            (None, true) => self.began.elapsed(),
            // The host refused it before it was sent.
            (None, false) => Duration::ZERO,
        };
        self.run.made_calls().add([CallRecord {
            tool: std::mem::take(&mut self.tool),
            ms: millis(time),
            ok: self.ok,
        }]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_noted_at_its_end_and_a_dropped_one_as_failed() {
        let run = RunContext::local();
        MadeCall::begin("a:b", &run.for_request()).end(true);
        drop(MadeCall::begin("a:c", &run.for_request()));
        let noted: Vec<(String, bool)> = run
            .made_calls()
            .take()
            .into_iter()
            .map(|call| (call.tool, call.ok))
            .collect();
        let expected = [("a:b".to_owned(), true), ("a:c".to_owned(), false)];
        assert_eq!(noted, expected);
    }

    #[test]
    fn calls_are_kept_up_to_a_bound_and_taken_once() {
        let calls = MadeCalls::default();
        let call = CallRecord {
            tool: "a:b".to_owned(),
            ms: 1.0,
            ok: true,
        };
        calls.clone().add([call.clone()]);
        assert_eq!(calls.take(), std::slice::from_ref(&call));
        assert!(calls.take().is_empty());
        calls.add(std::iter::repeat_n(call, MAX_KEPT + 1));
        assert_eq!(calls.take().len(), MAX_KEPT);
    }
}
