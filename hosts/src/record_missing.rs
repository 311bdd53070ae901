//! The layer that completes a recording: recorded requests are replayed, others are forwarded and
//! added.

use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult, VirtualClock};

use crate::record::Record;
use crate::recorded_request::RecordedRequest;
use crate::recording::{Entry, Recording};
use crate::replay::Replay;
use crate::replay_clock::answer_clock_message;

/// Answers from a recording, and records what the recording lacks. A replayed request is not
/// forwarded, so nothing below this layer asks for approval, counts or sends it.
pub struct RecordMissing<H> {
    recorded: Replay,
    live: Record<H>,
}

impl<H> RecordMissing<H> {
    /// `inner` answers what the recording lacks.
    pub fn new(recording: Recording, inner: H) -> Self {
        let clock = recording.clock;
        Self {
            recorded: Replay::new(recording),
            live: Record::new(inner, clock),
        }
    }

    /// The start time and the seed of the recorded run.
    pub fn clock(&self) -> VirtualClock {
        self.recorded.clock()
    }

    /// The requests that the recording lacked.
    pub fn added(&self) -> Vec<Entry> {
        self.live.entries()
    }
}

impl<H: ToolHost> ToolHost for RecordMissing<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        if let Request::Harness { message } = request {
            let answer = answer_clock_message(message, |moment| {
                self.recorded.advance(moment) + self.live.clock().advance(moment)
            });
            return Box::pin(std::future::ready(answer));
        }
        let recorded =
            RecordedRequest::of(request).and_then(|recorded| self.recorded.find(&recorded).ok());
        match recorded {
            Some(entry) => Box::pin(self.recorded.answer(entry)),
            None => self.live.handle(request, run),
        }
    }
}
