//! The end of the run of a script or a plan: it is stored, measured, logged and audited, and becomes a reply.

use std::sync::Arc;

use pml_hosts::{AuditTrail, RunEnd, RunSpan};
use pml_protocol::{ErrorKind, Limits, Outcome, RunContext};
use pml_reply::ReplyScrubber;

use super::redactions::count_redactions;
use super::run_result;
use crate::ask_kinds::{ReplyTexts, ask_about_kinds};
use crate::client_session::{ClientRun, ClientSession};
use crate::durable_runs::ActiveRun;
use crate::elicitation::ElicitationApprover;
use crate::notifications::Notifications;
use crate::state::ServerState;
use crate::tool_reply::ToolReply;

/// A run that has ended, and all that waits for its end.
pub struct EndedRun<'r> {
    /// "script" or "plan".
    pub what: &'static str,
    pub state: &'r ServerState,
    pub session: &'r ClientSession,
    pub client_run: &'r ClientRun<'r>,
    pub run: &'r RunContext,
    pub limits: Limits,
    pub durable: Option<ActiveRun>,
    pub observed: Option<RunSpan>,
    pub notifications: Notifications,
    /// The audit log, and the text that was run.
    pub audited: Option<(AuditTrail, String)>,
    /// Asks about private data in the reply.
    pub asker: Arc<ElicitationApprover>,
}

impl EndedRun<'_> {
    /// The reply. `show` changes what the model reads of the outcome; the store has it as it is.
    pub async fn reply(self, mut outcome: Outcome, show: impl FnOnce(&mut Outcome)) -> ToolReply {
        let (state, session, run) = (self.state, self.session, self.run);
        let is_task = match self.durable {
            Some(durable) => durable.finish(&mut outcome).await,
            None => false,
        };
        if let Some(observed) = self.observed {
            observed.end(&outcome);
        }
        self.notifications.finish().await;
        state.observer().run_ended(run, outcome.ok);
        state.record_shapes(session.observed_shapes().take());
        tracing::info!(
            run = %run.id(),
            ok = outcome.ok,
            kind = outcome.error.as_ref().map(|error| error.kind.to_string()),
            wall_ms = outcome.stats.wall_ms,
            calls = outcome.calls.len(),
            "a {} ended",
            self.what
        );
        let audited = self
            .audited
            .map(|(audit, text)| (audit, text, RunEnd::new(&outcome)));
        if is_task {
            if let Some((audit, text, ended)) = &audited {
                audit.run_ended(run, text, ended);
            }
            return ToolReply::text("the reply is in the store".into());
        }
        if let Some(error) = &mut outcome.error
            && error.kind == ErrorKind::Waiting
            && error.hint.is_none()
        {
            error.hint = Some(run_result::hint(run.id()));
        }
        session.show(&mut outcome, &self.limits);
        show(&mut outcome);
        let texts = || ReplyTexts::of_outcome(&outcome);
        let time = state.gateway().approval_time();
        ask_about_kinds(self.client_run.replies(), &*self.asker, time, texts).await;
        let bytes = pml_reply::outcome_bytes(&outcome);
        let (telemetry, run, limits) = (state.telemetry().cloned(), run.clone(), self.limits);
        let make = move |replies: &ReplyScrubber| {
            let reply = replies.outcome(outcome, &limits);
            let redactions = count_redactions(telemetry.as_ref(), &reply);
            if let Some((audit, text, mut ended)) = audited {
                ended.redactions = redactions;
                audit.run_ended(&run, &text, &ended);
            }
            ToolReply::run(&reply)
        };
        self.client_run.replies().make(bytes, make).await
    }
}
