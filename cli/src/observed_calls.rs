//! How the calls of this process went, for the estimates of later ones.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_catalog::CallHistory;
use pml_hosts::{CallObserver, EndedCall};
use serde_json::Value;

/// Notes the times of calls and the sizes of their results.
#[derive(Default)]
pub struct ObservedCalls(Mutex<CallHistory>);

impl ObservedCalls {
    /// The calls since the last time.
    pub fn take(&self) -> CallHistory {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, CallHistory> {
        // A call is added in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallObserver for ObservedCalls {
    fn call_ended(&self, call: &EndedCall<'_>) {
        let mut history = self.lock();
        let Some(times) = history.of(call.tool) else {
            return;
        };
        match call.is_answered {
            true => times.answered(call.time.as_secs_f64() * 1e3, call.bytes),
            false => times.not_answered(),
        }
    }

    fn call_succeeded(&self, _: &str, _: Option<&Value>) {}
}
