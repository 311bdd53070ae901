//! The layer that records requests and their answers.

use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult, VirtualClock};

use crate::recorded_request::RecordedRequest;
use crate::recording::{Entry, RecordedAnswer};
use crate::replay_clock::{ReplayClock, answer_live_clock};
use crate::timer_gate::TimerGate;

/// Forwards requests and records them with their answers. `store` and `load` are not recorded: a replay
/// of the script does them again.
pub struct Record<H> {
    inner: H,
    clock: ReplayClock,
    gate: TimerGate,
    /// In the order in which the requests were made.
    entries: Mutex<Vec<Entry>>,
}

impl<H> Record<H> {
    /// `clock` is the one that the script is going to have.
    pub fn new(inner: H, clock: VirtualClock) -> Self {
        Self {
            inner,
            clock: ReplayClock::new(clock),
            gate: TimerGate::default(),
            entries: Mutex::default(),
        }
    }

    /// Everything that was requested so far, in order, with its answer if there was one.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().clone()
    }

    pub(crate) fn clock(&self) -> &ReplayClock {
        &self.clock
    }

    pub(crate) fn gate(&self) -> &TimerGate {
        &self.gate
    }

    fn begin(&self, request: RecordedRequest) -> usize {
        let mut entries = self.lock();
        entries.push(Entry {
            request,
            after_ms: 0,
            answer: RecordedAnswer::Unanswered,
        });
        entries.len() - 1
    }

    fn end(&self, index: usize, after_ms: u64, answer: RecordedAnswer) {
        let entry = &mut self.lock()[index];
        entry.after_ms = after_ms;
        entry.answer = answer;
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        // Entries are only ever added and completed, each in one step.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H: ToolHost> ToolHost for Record<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        if let Request::Harness { message } = request {
            return answer_live_clock(message, &self.gate, ready(()), |moment| {
                self.clock.advance(moment)
            });
        }
        let Some(recorded) = RecordedRequest::of(request) else {
            return self.inner.handle(request, run);
        };
        Box::pin(async move {
            let index = self.begin(recorded);
            let started_at = self.clock.now();
            let result = self.inner.handle(request, run).await;
            let _passing = self.gate.pass().await;
            // Timers move the clock by whole milliseconds; fractions come from reading it.
            let after_ms = (self.clock.now() - started_at).max(0.0) as u64;
            self.end(index, after_ms, RecordedAnswer::of(&result));
            result
        })
    }
}
