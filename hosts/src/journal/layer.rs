//! The layer that answers a resumed run from its journal, and appends what is new.

use std::sync::Arc;

use pml_protocol::{
    ErrorKind, Failure, HostFuture, Request, RequestKey, RunContext, RunError, ToolHost,
    ToolResult, to_result,
};
use pml_scrub::Origin;
use pml_store::Checkpoint;
use serde_json::value::RawValue;

use super::checkpoints::{SavedCheckpoint, ScriptClock, found};
use super::entry::JournaledRequest;
use super::run_journal::{Known, RunJournal};
use crate::reconcile::{Reconciled, Reconciler};
use crate::recorded_request::RecordedRequest;
use crate::replay_clock::answer_clock_message;
use crate::run_placeholders::RunPlaceholders;

/// Answers from the journal of a run, and forwards what is not in it. A request that is answered from
/// the journal is not forwarded: nothing below this layer asks for approval, counts or sends it again.
pub struct Journal<H> {
    inner: H,
    journal: Arc<RunJournal>,
    reconciler: Reconciler,
    placeholders: Option<Arc<RunPlaceholders>>,
}

impl<H: ToolHost> Journal<H> {
    pub(crate) fn new(
        journal: Arc<RunJournal>,
        reconciler: Reconciler,
        placeholders: Option<Arc<RunPlaceholders>>,
        inner: H,
    ) -> Self {
        Self {
            inner,
            journal,
            reconciler,
            placeholders,
        }
    }

    async fn answer(
        &self,
        asked: JournaledRequest,
        request: &Request,
        run: &RunContext,
    ) -> ToolResult {
        let (key, known) = self.journal.identify(&asked);
        run.set_request_key(key);
        match known {
            Known::Answer { result, place } => {
                match place {
                    Some((place, clock_ms)) => {
                        self.journal.order().journal_turn(place, clock_ms).await;
                    }
                    // An answer that somebody settled, or that came too late for the script.
                    None => self.deliver(&asked, key, &result).await,
                }
                self.received(&asked.recorded, &result);
                result
            }
            Known::Unknown => match self.reconcile(&asked, run).await {
                Reconciled::Happened(result) => {
                    self.deliver(&asked, key, &result).await;
                    self.received(&asked.recorded, &result);
                    result
                }
                Reconciled::DidNotHappen => self.send(asked, key, request, run).await,
                Reconciled::CannotTell => self.wait_for_settlement(&asked, key, run).await,
            },
            Known::Nothing => self.send(asked, key, request, run).await,
        }
    }

    async fn send(
        &self,
        asked: JournaledRequest,
        key: RequestKey,
        request: &Request,
        run: &RunContext,
    ) -> ToolResult {
        let order = self.journal.order();
        let live = order.begin_live();
        let result = self.inner.handle(request, run).await;
        if order.is_replaying() {
            self.journal.answered(&asked, key.number, &result, None);
        }
        let place = order.live_turn().await;
        drop(live);
        self.journal
            .answered(&asked, key.number, &result, Some(place));
        result
    }

    /// Delivers an answer that no execution of the script has had, behind all that one had.
    async fn deliver(&self, asked: &JournaledRequest, key: RequestKey, result: &ToolResult) {
        let order = self.journal.order();
        let live = order.begin_live();
        let place = order.live_turn().await;
        drop(live);
        self.journal
            .answered(asked, key.number, result, Some(place));
    }

    async fn reconcile(&self, asked: &JournaledRequest, run: &RunContext) -> Reconciled {
        let RecordedRequest::Call { tool, args } = &asked.recorded else {
            return Reconciled::CannotTell;
        };
        self.reconciler.ask(tool, args, &self.inner, run).await
    }

    /// The outcome of the call is unknown, and only a person can say what happened: the run ends here
    /// when nothing else of it goes on, and is resumed when the call is settled.
    async fn wait_for_settlement(
        &self,
        asked: &JournaledRequest,
        key: RequestKey,
        run: &RunContext,
    ) -> ToolResult {
        let (id, call, title) = (self.journal.id(), key.number, asked.recorded.title());
        let message = format!(
            "the outcome of {title} (number {call} of run {id}) is unknown: it was sent, and pml ended before the answer came. Look whether it happened; then `pml runs settle {id} {call} --happened JSON`, `--send` or `--give-up`, and `pml resume {id}`"
        );
        let _live = self.journal.order().begin_live();
        let _suspended = run
            .control()
            .suspend(RunError::new(ErrorKind::Unknown, message));
        std::future::pending().await
    }

    /// Notes what the run received from a server, as the gateway does for a call that is sent.
    fn received(&self, request: &RecordedRequest, result: &ToolResult) {
        let Some(run) = &self.placeholders else {
            return;
        };
        let origin = match request.server() {
            Some(server) => Origin::server(server),
            None => Origin::unknown(),
        };
        match result {
            Ok(value) => run.received(&origin, value.get()),
            Err(failure) => run.received(&origin, &failure.message),
        }
    }

    fn checkpoint(&self, key: &str, value: Option<&RawValue>, clock_ms: Option<f64>) -> ToolResult {
        let journal = &self.journal;
        let Some(value) = value else {
            let saved = journal.checkpoints().find(key);
            if let Some(saved) = &saved {
                journal.skip_requests(saved.requests);
                journal.order().skip_to(saved.answers);
            }
            return found(saved.as_ref());
        };
        let clock = clock_ms.map(|ms| ScriptClock {
            ms,
            seed: seed_of(journal, key, ms),
        });
        let saved = SavedCheckpoint {
            value: value.to_owned(),
            clock,
            requests: journal.progress(),
            answers: journal.order().delivered(),
        };
        // Plain fields always become JSON.
        let bytes = serde_json::to_vec(&saved).unwrap_or_default();
        journal.checkpoints().keep(key, saved)?;
        journal.writer().checkpoint(Checkpoint {
            key: key.to_owned(),
            value: bytes,
        });
        to_result(&clock)
    }
}

/// The randomness behind a checkpoint: the same whether the script has made it or found it.
fn seed_of(journal: &RunJournal, key: &str, clock_ms: f64) -> u32 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&journal.clock().seed.to_le_bytes());
    hasher.update(&clock_ms.to_le_bytes());
    hasher.update(key.as_bytes());
    let digest = hasher.finalize();
    let [a, b, c, d, ..] = *digest.as_bytes();
    u32::from_le_bytes([a, b, c, d])
}

impl<H: ToolHost> ToolHost for Journal<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match request {
            Request::Harness { message } => {
                let answer =
                    answer_clock_message(message, |moment| self.journal.order().advance(moment));
                Box::pin(std::future::ready(answer))
            }
            Request::Checkpoint {
                key,
                value,
                clock_ms,
            } => {
                let answer = self.checkpoint(key, value.as_deref(), *clock_ms);
                Box::pin(std::future::ready(answer))
            }
            _ => match (JournaledRequest::of(request), request.target()) {
                (Some(asked), _) => Box::pin(self.answer(asked, request, run)),
                (None, pml_protocol::Target::Local) => self.inner.handle(request, run),
                // Every execution would send it again.
                (None, _) => {
                    let failure = Failure::internal("this request cannot be journaled");
                    Box::pin(std::future::ready(Err(failure)))
                }
            },
        }
    }
}
