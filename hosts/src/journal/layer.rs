//! The layer that answers a resumed run from its journal, and appends what is new.

use std::sync::Arc;

use pml_fair_budget::{FairBudget, Reservation};
use pml_protocol::{
    Failure, FailureKind, FairShareKey, HostFuture, Request, RequestKey, RunContext, Target,
    ToolHost, ToolResult, to_result,
};
use pml_scrub::Origin;
use pml_store::{Checkpoint, StoreError};
use serde_json::value::RawValue;
use tokio::sync::{Mutex, Semaphore};

use super::answer_order::LiveGuard;
use super::checkpoints::{SavedCheckpoint, ScriptClock, found};
use super::entry::{JournaledRequest, LARGE_BYTES};
use super::known_requests::Known;
use super::run_journal::RunJournal;
use super::settlement::unsettled;
use crate::arguments;
use crate::reconcile::{Reconciled, Reconciler};
use crate::replay_clock::answer_live_clock;
use crate::run_placeholders::RunPlaceholders;
use crate::track_labels::AnswerLabels;

/// Answers from the journal of a run, and forwards what is not in it. A request that is answered from
/// the journal is not forwarded: nothing below this layer asks for approval, counts or sends it again.
pub struct Journal<H> {
    inner: H,
    journal: Arc<RunJournal>,
    reconciler: Reconciler,
    labels: AnswerLabels,
    placeholders: Option<Arc<RunPlaceholders>>,
    /// The turn of a request to be identified.
    turns: Mutex<()>,
    /// The turn of an answer to be delivered.
    deliveries: Mutex<()>,
}

/// Large answers that are being written, of all runs: each is in memory three times meanwhile.
static LARGE_ANSWERS: Semaphore = Semaphore::const_new(1);

/// The bytes of large answers that wait to be written, of all runs. One client gets half of it at most.
const WAITING_BYTES: usize = 128 * 1024 * 1024;
static WAITING_ANSWERS: FairBudget<FairShareKey> = FairBudget::new(WAITING_BYTES);

/// The memory of an answer until the script gets it. A large one that finds no room becomes an error, as one
/// does that the script cannot take.
fn admit(result: &mut ToolResult, run: &RunContext) -> Option<Reservation<FairShareKey>> {
    let bytes = match result {
        Ok(value) if value.get().len() > LARGE_BYTES => value.get().len(),
        _ => return None,
    };
    let reserved = WAITING_ANSWERS.try_reserve(run.fair_share(), bytes);
    if reserved.is_none() {
        let message = "answers of 64 MiB of this client, or of 128 MiB in all, wait to be journaled; await calls before making more";
        *result = Err(Failure::new(FailureKind::Tool, message));
    }
    reserved
}

fn is_large(result: &ToolResult) -> bool {
    result
        .as_ref()
        .is_ok_and(|value| value.get().len() > LARGE_BYTES)
}

impl<H: ToolHost> Journal<H> {
    pub(crate) fn new(
        journal: Arc<RunJournal>,
        reconciler: Reconciler,
        labels: AnswerLabels,
        placeholders: Option<Arc<RunPlaceholders>>,
        inner: H,
    ) -> Self {
        Self {
            inner,
            journal,
            reconciler,
            labels,
            placeholders,
            turns: Mutex::default(),
            deliveries: Mutex::default(),
        }
    }

    async fn answer(&self, request: &Request, run: &RunContext) -> ToolResult {
        let (asked, key, known) = {
            // In the order of the requests: equal ones are told apart by how many came before.
            let _turn = self.turns.lock().await;
            let asked = JournaledRequest::of(request).await?;
            let (key, known) = self.journal.identify(&asked);
            (asked, key, known)
        };
        run.set_request_key(key);
        match known {
            Known::Answer {
                result,
                read,
                place,
            } => {
                run.received(&read);
                self.labels.remember(request, &result, run);
                match place {
                    Some((place, clock_ms)) => {
                        self.journal.order().journal_turn(place, clock_ms).await;
                    }
                    // An answer that somebody settled, or that came too late for the script.
                    None => {
                        let labels = &self.labels;
                        labels.answered_without_sending(request, &result, run).await;
                        let live = self.journal.order().begin_live();
                        self.deliver(live, request, key, &result, run).await?;
                    }
                }
                self.received(asked.server.as_deref(), &result);
                result
            }
            Known::Unknown => match self.reconcile(request, run).await {
                Reconciled::Happened(result) => {
                    let labels = &self.labels;
                    labels.remember(request, &result, run);
                    labels.answered_without_sending(request, &result, run).await;
                    let live = self.journal.order().begin_live();
                    self.deliver(live, request, key, &result, run).await?;
                    self.received(asked.server.as_deref(), &result);
                    result
                }
                Reconciled::DidNotHappen => self.send(key, request, run).await,
                Reconciled::CannotTell => {
                    let why = "it was sent, and pml ended before the answer came";
                    self.wait_for_settlement(request, key, run, why).await
                }
            },
            Known::Nothing => self.send(key, request, run).await,
        }
    }

    async fn send(&self, key: RequestKey, request: &Request, run: &RunContext) -> ToolResult {
        let live = self.journal.order().begin_live();
        let mut result = self.inner.handle(request, run).await;
        if let Err(failure) = &result
            && run.notes().is_unanswered()
            && self.journal.must_be_settled(key.number)
        {
            // A server that is late may still do it, so "it did not happen" is not believed now.
            match self.reconcile(request, run).await {
                Reconciled::Happened(happened) => {
                    result = happened;
                    let labels = &self.labels;
                    labels.remember(request, &result, run);
                    labels.answered_without_sending(request, &result, run).await;
                }
                Reconciled::DidNotHappen | Reconciled::CannotTell => {
                    let why = format!("it was sent, and no answer came ({})", failure.message);
                    return self.wait_for_settlement(request, key, run, &why).await;
                }
            }
        }
        let _memory = admit(&mut result, run);
        if !is_large(&result) {
            // A script that has seen the answer of a call with an effect must not find its outcome
            // unknown. The place of the answer may be lost: nothing comes after it in the journal then.
            let has_intent = self.journal.has_intent(key.number);
            if has_intent || self.journal.order().is_replaying() {
                let answer = (&result, &run.received_flow());
                self.journal.answered(request, key.number, answer, None);
            }
            if has_intent {
                let written = self.journal.writer().flush().await;
                written.map_err(|error| self.journal.failed(&error, run.control()))?;
            }
        }
        self.deliver(live, request, key, &result, run).await?;
        result
    }

    /// Appends an answer that no execution of the script has had, behind all that one had. The script
    /// gets it when this returns. A large answer is on disk then: it is not queued, because all that
    /// is queued is in memory a second time.
    async fn deliver(
        &self,
        live: LiveGuard<'_>,
        request: &Request,
        key: RequestKey,
        result: &ToolResult,
        run: &RunContext,
    ) -> Result<(), Failure> {
        // Held until the script gets the answer, so that no later one overtakes it.
        let _delivery = self.deliveries.lock().await;
        let (place, _passing) = self.journal.order().live_turn().await;
        drop(live);
        let failed = |error: StoreError| self.journal.failed(&error, run.control());
        let answer = (result, &run.received_flow());
        if !is_large(result) {
            self.journal
                .answered(request, key.number, answer, Some(place));
            // What is not written any more is not worth doing: it would be done again.
            return self.journal.writer().check().map_err(failed);
        }
        // The semaphore is never closed.
        let _permit = LARGE_ANSWERS.acquire().await;
        self.journal
            .answered(request, key.number, answer, Some(place));
        self.journal.writer().flush().await.map_err(failed)
    }

    async fn reconcile(&self, request: &Request, run: &RunContext) -> Reconciled {
        let Request::Call { tool, args, .. } = request else {
            return Reconciled::CannotTell;
        };
        match arguments::parse_off_loop(args).await {
            Ok(args) => self.reconciler.ask(tool, &args, &self.inner, run).await,
            Err(_) => Reconciled::CannotTell,
        }
    }

    /// The outcome of the call is unknown, and only a person can say what happened: the run ends here
    /// when nothing else of it goes on, and is resumed when the call is settled.
    async fn wait_for_settlement(
        &self,
        request: &Request,
        key: RequestKey,
        run: &RunContext,
        why: &str,
    ) -> ToolResult {
        let title = match request {
            Request::Call { tool, .. } => format!("call {tool}"),
            _ => String::new(),
        };
        let error = unsettled(self.journal.id(), key.number, &title, why);
        let _live = self.journal.order().begin_live();
        let _suspended = run.control().suspend(error);
        std::future::pending().await
    }

    /// Notes what the run received from a server, as the gateway does for a call that is sent.
    fn received(&self, server: Option<&str>, result: &ToolResult) {
        let Some(run) = &self.placeholders else {
            return;
        };
        let origin = server.map_or_else(Origin::unknown, Origin::server);
        match result {
            Ok(value) => run.received(&origin, value.get()),
            Err(failure) => run.received(&origin, &failure.message),
        }
    }

    fn checkpoint(
        &self,
        key: &str,
        value: Option<&RawValue>,
        clock_ms: Option<f64>,
        run: &RunContext,
    ) -> ToolResult {
        let journal = &self.journal;
        let Some(value) = value else {
            let saved = journal.checkpoints().find(key);
            if let Some(saved) = &saved {
                journal.skip_requests(saved.requests);
                journal.order().skip_to(saved.answers);
                run.received(&saved.read);
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
            read: run.flow().current(),
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
        // The journal has what the script asks for. It gets its answers in that order.
        if run.is_speculative() {
            return Box::pin(async move {
                let begun = self.journal.writer().begin().await;
                begun.map_err(|error| self.journal.failed(&error, run.control()))?;
                self.inner.handle(request, run).await
            });
        }
        match request {
            Request::Harness { message } => {
                let order = self.journal.order();
                answer_live_clock(message, order.gate(), order.replayed(), |moment| {
                    order.advance(moment)
                })
            }
            Request::Checkpoint {
                key,
                value,
                clock_ms,
            } => {
                let answer = self.checkpoint(key, value.as_deref(), *clock_ms, run);
                Box::pin(std::future::ready(answer))
            }
            _ if JournaledRequest::is_journaled(request) => Box::pin(self.answer(request, run)),
            _ => match request.target() {
                Target::Local => self.inner.handle(request, run),
                // Every execution would send it again.
                Target::Tool { .. } | Target::Resources { .. } => {
                    let failure = Failure::internal("this request cannot be journaled");
                    Box::pin(std::future::ready(Err(failure)))
                }
            },
        }
    }
}
