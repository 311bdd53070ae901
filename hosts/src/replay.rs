//! The base host that answers from a recording: no server, no configuration, the same answers every
//! time.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_protocol::{
    Failure, FailureKind, HostFuture, Request, RunContext, ToolHit, ToolHost, ToolResult,
    VirtualClock,
};
use serde_json::value::RawValue;

use crate::error::ReplayError;
use crate::recorded_answers::RecordedAnswers;
use crate::recorded_request::RecordedRequest;
use crate::recording::{Entry, RecordedAnswer, Recording};
use crate::replay_clock::{ClockMoment, ReplayClock, answer_clock_message};
use crate::storage::SessionStorage;

/// Replays a recording.
pub struct Replay {
    start: VirtualClock,
    answers: Mutex<RecordedAnswers>,
    clock: ReplayClock,
    storage: SessionStorage,
}

impl Replay {
    /// Replays a recording from its beginning.
    pub fn new(recording: Recording) -> Self {
        Self {
            start: recording.clock,
            clock: ReplayClock::new(recording.clock),
            answers: Mutex::new(RecordedAnswers::new(recording)),
            storage: SessionStorage::default(),
        }
    }

    /// Replays the recording in a file.
    ///
    /// # Errors
    ///
    /// Those of [`Recording::load`].
    pub fn load(path: &Path) -> Result<Self, ReplayError> {
        Ok(Self::new(Recording::load(path)?))
    }

    /// The start time and the seed of the recorded run.
    pub fn clock(&self) -> VirtualClock {
        self.start
    }

    /// Takes the next recorded answer to a request.
    ///
    /// # Errors
    ///
    /// The reason why there is none: the nearest recorded request and where it differs.
    pub fn find(&self, request: &RecordedRequest) -> Result<Entry, String> {
        self.lock().take(request).cloned()
    }

    /// The recorded requests that were not made, as messages name them.
    pub fn unused(&self) -> Vec<String> {
        self.lock().unused()
    }

    /// The answer of an entry, once the virtual clock has the time at which the answer was recorded.
    pub async fn answer(&self, entry: Entry) -> ToolResult {
        match (&entry.answer, entry.after_ms) {
            (RecordedAnswer::Unanswered, _) => self.clock.wait(None).await,
            (_, 0) => {}
            (_, after) => self.clock.wait(Some(after)).await,
        }
        let result = entry.answer.to_result();
        match entry.request {
            RecordedRequest::Search { .. } => result.and_then(check_hits),
            _ => result,
        }
    }

    /// Moves the virtual clock; returns how many answers wait for it.
    pub fn advance(&self, moment: ClockMoment) -> usize {
        self.clock.advance(moment)
    }

    fn lock(&self) -> MutexGuard<'_, RecordedAnswers> {
        // Each answer is taken in one step.
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolHost for Replay {
    fn handle<'a>(&'a self, request: &'a Request, _: &'a RunContext) -> HostFuture<'a, ToolResult> {
        if let Request::Harness { message } = request {
            let answer = answer_clock_message(message, |moment| self.advance(moment));
            return Box::pin(std::future::ready(answer));
        }
        let Some(recorded) = RecordedRequest::of(request) else {
            return Box::pin(std::future::ready(self.storage.answer(request)));
        };
        Box::pin(async move {
            match self.find(&recorded) {
                Ok(entry) => self.answer(entry).await,
                Err(missing) => Err(Failure::new(FailureKind::Unrecorded, missing)),
            }
        })
    }
}

/// Checks recorded hits: a recording may be edited by hand, and the script relies on their form.
fn check_hits(answer: Box<RawValue>) -> ToolResult {
    match serde_json::from_str::<Vec<ToolHit>>(answer.get()) {
        Ok(_) => Ok(answer),
        Err(error) => Err(Failure::new(
            FailureKind::Unrecorded,
            format!("the recorded answer of the search is not a list of tools: {error}"),
        )),
    }
}
