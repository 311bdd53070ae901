//! A request between its intent and its outcome.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use pml_audit::{Actor, AuditError, Event, digest};
use pml_gateway::off_loop::off_loop;
use pml_protocol::{Failure, FailureKind, Flow, RunContext, millis};
use serde_json::{Value, json};

use super::trail::{AuditTrail, traceparent};

/// Characters of a value that an event shows.
const MAX_SHOWN_CHARS: usize = 4_096;
/// Bytes of a value that is scrubbed to be shown.
const MAX_SCRUBBED_BYTES: usize = 64 * 1024;

/// Where the answer to a request is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredBy {
    /// The request was sent, or the cache has answered.
    Server,
    /// The same request was sent before the script made it.
    Speculation,
    /// The journal of a resumed run had the answer: nothing was sent.
    Journal,
}

impl AnsweredBy {
    pub(super) fn of(run: &RunContext) -> Self {
        match (run.took_speculated(), run.dispatched_at()) {
            (true, _) => Self::Speculation,
            (false, Some(_)) => Self::Server,
            (false, None) => Self::Journal,
        }
    }
}

/// A request whose intent is recorded. Dropping it records that it was cancelled.
pub struct PendingCall<'a> {
    trail: &'a AuditTrail,
    run: RunContext,
    actor: Actor,
    kind: &'static str,
    subject: String,
    /// The number that the outcome refers to.
    intent: u64,
    began: Instant,
    is_ended: bool,
    /// No layer notes that the request is sent.
    is_past_the_pipeline: bool,
}

impl<'a> PendingCall<'a> {
    pub(super) fn new(
        trail: &'a AuditTrail,
        run: &RunContext,
        kind: &'static str,
        subject: String,
    ) -> Self {
        Self {
            trail,
            run: run.clone(),
            actor: trail.actor(run),
            kind,
            subject,
            intent: 0,
            began: Instant::now(),
            is_ended: false,
            is_past_the_pipeline: false,
        }
    }

    /// The same request, as one that no layer takes notes of.
    pub(super) fn past_the_pipeline(mut self) -> Self {
        self.is_past_the_pipeline = true;
        self
    }

    pub(super) fn begin(&mut self, arguments: &str) -> Result<(), AuditError> {
        static INTENTS: AtomicU64 = AtomicU64::new(1);
        // An intent that is not recorded has no outcome.
        self.is_ended = true;
        self.trail.admit()?;
        self.intent = INTENTS.fetch_add(1, Ordering::Relaxed);
        let (digest, shown) = self.digested(arguments);
        let mut data = json!({ "intent": self.intent, "arguments": digest });
        if let Some(shown) = shown {
            data["shown"] = shown.into();
        }
        if self.run.is_speculative() {
            // The script has not made the request yet.
            data["speculative"] = true.into();
        }
        label(&mut data, self.run.seen());
        self.record("intent", &data)?;
        self.is_ended = false;
        Ok(())
    }

    /// The digest of a value, and what an event may show of it where the operator wants that.
    fn digested(&self, value: &str) -> (String, Option<String>) {
        let show = self.trail.show();
        off_loop(&self.actor.principal, value.len(), || {
            let shown = show.and_then(|show| {
                if value.len() > MAX_SCRUBBED_BYTES {
                    return Some(format!("({} bytes)", value.len()));
                }
                let mut shown = show(value)?;
                if let Some((end, _)) = shown.char_indices().nth(MAX_SHOWN_CHARS) {
                    shown.truncate(end);
                    shown.push('…');
                }
                Some(shown)
            });
            (digest(value.as_bytes()), shown)
        })
    }

    fn record(&self, what: &str, data: &Value) -> Result<(), AuditError> {
        let kind = format!("pml.{}.{what}", self.kind);
        let event = Event::new(&kind, data).about(&self.subject).by(&self.actor);
        self.trail.log.record(&event)
    }

    /// Records how it ended: its result as JSON, or the kind of its error.
    pub fn end(mut self, result: Result<&str, &str>, answered: AnsweredBy) {
        self.is_ended = true;
        let mut data = self.ended(result.is_ok());
        let server = self.subject.split(':').next().unwrap_or_default();
        let references = self.trail.credentials_of(server);
        if let Some(references) = references.filter(|_| answered != AnsweredBy::Journal) {
            data["credentials"] = json!(references);
        }
        match result {
            Ok(text) => {
                let (digest, shown) = self.digested(text);
                data["result"] = digest.into();
                data["bytes"] = text.len().into();
                data["replayed"] = (answered == AnsweredBy::Journal).into();
                if let Some(shown) = shown {
                    data["shown"] = shown.into();
                }
                if answered == AnsweredBy::Speculation {
                    data["speculated"] = true.into();
                }
                if self.run.notes().is_cached() {
                    data["cached"] = true.into();
                }
            }
            Err(kind) => data["error"] = kind.into(),
        }
        label(&mut data, &self.run.received_flow());
        let is_denied = result == Err(FailureKind::Denied.as_str());
        self.note(if is_denied { "denied" } else { "outcome" }, &data);
    }

    /// What every outcome has.
    fn ended(&self, ok: bool) -> Value {
        let mut data = json!({
            "intent": self.intent,
            "ok": ok,
            "ms": millis(self.began.elapsed()),
        });
        let guards = self.run.notes().guards();
        if !guards.is_empty() {
            data["guards"] = json!(guards);
        }
        let is_sent = self.is_past_the_pipeline || self.run.notes().attempts() > 0;
        if let Some(cost) = self.trail.cost_of(&self.subject).filter(|_| is_sent) {
            data["cost"] = cost.into();
        }
        data
    }

    /// Records with the span that the request has got meanwhile.
    fn note(&mut self, what: &str, data: &Value) {
        self.actor.traceparent = traceparent(&self.run);
        if let Err(error) = self.record(what, data) {
            tracing::error!(%error, "an outcome is missing in the audit log");
        }
    }
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        if !self.is_ended {
            let mut data = self.ended(false);
            data["error"] = "cancelled".into();
            self.note("outcome", &data);
        }
    }
}

/// Adds what was read, unless it is trusted and public.
fn label(data: &mut Value, flow: &Flow) {
    if !flow.is_clean() {
        data["label"] = flow.label().to_string().into();
    }
}

/// The failure of a call that cannot be recorded.
pub(super) fn refused(error: AuditError) -> Failure {
    let message = format!(
        "the call is not sent, because it cannot be recorded (`pml.audit.onFailure` is `block`): {error}"
    );
    Failure {
        retryable: true,
        ..Failure::new(FailureKind::Unavailable, message)
    }
}
