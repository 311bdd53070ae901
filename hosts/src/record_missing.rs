//! The layer that completes a recording: recorded requests are replayed, others are forwarded and
//! added.

use std::future::ready;

use pml_protocol::{
    Failure, HostFuture, Request, RunContext, Target, ToolHost, ToolResult, VirtualClock,
};

use crate::record::Record;
use crate::recorded_request::RecordedRequest;
use crate::recording::{Entry, Recording};
use crate::replay::Replay;
use crate::replay_clock::answer_live_clock;
use crate::track_labels::AnswerLabels;

/// Answers from a recording, and records what the recording lacks. A replayed request is not
/// forwarded, so nothing below this layer asks for approval, counts or sends it.
pub struct RecordMissing<H> {
    recorded: Replay,
    labels: AnswerLabels,
    live: Record<H>,
}

impl<H> RecordMissing<H> {
    /// `inner` answers what the recording lacks.
    pub(crate) fn new(recording: Recording, labels: AnswerLabels, inner: H) -> Self {
        let clock = recording.clock;
        Self {
            recorded: Replay::new(recording),
            labels,
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
            return answer_live_clock(message, self.live.gate(), ready(()), |moment| {
                self.recorded.advance(moment) + self.live.clock().advance(moment)
            });
        }
        let recorded = match (RecordedRequest::of(request), request.target()) {
            (Some(recorded), _) => recorded,
            (None, Target::Local) => return self.live.handle(request, run),
            // Every run would send it again.
            (None, Target::Tool { .. } | Target::Resources { .. }) => {
                let failure = Failure::internal("this request cannot be recorded");
                return Box::pin(std::future::ready(Err(failure)));
            }
        };
        match self.recorded.find(&recorded) {
            Ok(entry) => Box::pin(async move {
                let answer = self.recorded.answer(entry).await;
                let labels = &self.labels;
                labels.answered_without_sending(request, &answer, run).await;
                answer
            }),
            Err(_missing) => self.live.handle(request, run),
        }
    }
}
