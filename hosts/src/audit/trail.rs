//! The audit log of a process, and the events that no call is behind.

use std::collections::BTreeMap;
use std::sync::Arc;

use pml_audit::{Actor, AuditError, AuditLog, Event, SinkGate, digest};
use pml_protocol::{Failure, Outcome, RunContext, TraceContext};
use pml_store::StoredApproval;
use pml_telemetry::Anomaly;
use serde_json::{Map, Value, json};

use super::approver::AuditedApprover;
use super::pending_call::{PendingCall, refused};
use crate::approval::Approver;
use crate::call_costs::CallCosts;

/// Makes of a value what an event may show: scrubbed; `None` if that is not possible.
pub type ShowValue = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The audit log of a process, and the rules that its events happen under. Cheap to clone.
#[derive(Clone)]
pub struct AuditTrail {
    pub(super) log: Arc<AuditLog>,
    policy: Arc<str>,
    lock: Arc<str>,
    /// The references of the credentials of each server.
    credentials: Arc<BTreeMap<String, Vec<String>>>,
    costs: CallCosts,
    gate: SinkGate,
    /// `None` where the log has digests alone.
    show: Option<ShowValue>,
}

impl AuditTrail {
    /// Writes to `log`; `policy` and `lock` are digests of the rules.
    pub fn new(log: Arc<AuditLog>, policy: &str, lock: &str) -> Self {
        Self {
            log,
            policy: policy.into(),
            lock: lock.into(),
            credentials: Arc::default(),
            costs: CallCosts::default(),
            gate: SinkGate::default(),
            show: None,
        }
    }

    /// Records which credentials a call used: of each server the references, never the values.
    #[must_use]
    pub fn with_credentials(mut self, credentials: BTreeMap<String, Vec<String>>) -> Self {
        self.credentials = Arc::new(credentials);
        self
    }

    /// Records what calls cost.
    #[must_use]
    pub fn with_costs(self, costs: CallCosts) -> Self {
        Self { costs, ..self }
    }

    /// Refuses calls while `gate` is closed.
    #[must_use]
    pub fn with_gate(self, gate: SinkGate) -> Self {
        Self { gate, ..self }
    }

    /// Records arguments and results as `show` makes them, besides their digests.
    #[must_use]
    pub fn with_values(self, show: ShowValue) -> Self {
        let show = Some(show);
        Self { show, ..self }
    }

    /// Whether a call may be sent.
    pub(super) fn admit(&self) -> Result<(), AuditError> {
        self.gate.check()
    }

    pub(super) fn credentials_of(&self, server: &str) -> Option<&[String]> {
        self.credentials.get(server).map(Vec::as_slice)
    }

    pub(super) fn cost_of(&self, tool: &str) -> Option<f64> {
        self.costs.of(tool)
    }

    pub(super) fn show(&self) -> Option<&ShowValue> {
        self.show.as_ref()
    }

    pub(super) fn actor(&self, run: &RunContext) -> Actor {
        Actor {
            tenant: run.tenant().to_string(),
            principal: run.principal().to_string(),
            session: run.session().to_string(),
            run: run.id().to_string(),
            traceparent: traceparent(run),
            policy: self.policy.to_string(),
            lock: self.lock.to_string(),
        }
    }

    /// Records how a run ended. `redactions` are the values that were replaced in its reply, by kind.
    pub fn run_ended(&self, run: &RunContext, script: &str, ended: &RunEnd) {
        let mut data = json!({
            "script": digest(script.as_bytes()),
            "ok": ended.ok,
            "error": ended.error,
            "calls": ended.calls,
            "wallMs": ended.wall_ms,
            "cpuMs": ended.cpu_ms,
            "redactions": ended.redactions,
        });
        let label = run.flow().current().label();
        if !label.is_clean() {
            data["label"] = label.to_string().into();
        }
        self.note(&Event::new("pml.run.ended", &data).by(&self.actor(run)));
    }

    /// Records which values were replaced in the reply to a call that no script made, by kind.
    pub fn reply_scrubbed(&self, run: &RunContext, tool: &str, redactions: Map<String, Value>) {
        let data = json!({ "redactions": redactions });
        let event = Event::new("pml.reply.scrubbed", &data);
        self.note(&event.about(tool).by(&self.actor(run)));
    }

    /// Records the intent of a call that goes past the pipeline.
    ///
    /// # Errors
    ///
    /// It cannot be recorded, and the operator wants it refused then.
    pub fn begin_call(
        &self,
        run: &RunContext,
        tool: &str,
        arguments: &str,
    ) -> Result<PendingCall<'_>, Failure> {
        let mut pending = PendingCall::new(self, run, "call", tool.to_owned());
        pending.begin(arguments).map_err(refused)?;
        Ok(pending.past_the_pipeline())
    }

    /// Records a sudden change of a tool.
    pub fn anomaly(&self, anomaly: &Anomaly) {
        let mut data = json!({
            "signal": anomaly.signal.as_str(),
            "value": anomaly.value,
            "usual": anomaly.usual,
            "deviations": anomaly.deviations,
            "calls": anomaly.calls,
            "suspended": anomaly.suspends_tool,
        });
        if let Some(caller) = &anomaly.caller {
            data["caller"] = json!({
                "principal": caller.principal,
                "calls": caller.calls,
                "suspended": anomaly.suspends_caller,
            });
        }
        self.note(&Event::new("pml.anomaly", &data).about(&anomaly.tool));
    }

    /// Records that a tool is withheld: it is listed by its server, and cannot be called.
    pub fn tool_withheld(&self, tool: &str, reason: &str) {
        let data = json!({ "reason": reason });
        self.note(&Event::new("pml.tool.withheld", &data).about(tool));
    }

    /// Records the answer to an approval that came from outside of the client.
    pub fn approval_answered(&self, approval: &StoredApproval) {
        let data = json!({
            "approval": approval.id,
            "decision": approval.state.as_str(),
            "by": approval.answered_by,
        });
        let actor = Actor {
            tenant: approval.asked.tenant.to_string(),
            principal: approval.answered_by.clone().unwrap_or_default(),
            run: approval.asked.run.to_string(),
            policy: self.policy.to_string(),
            lock: self.lock.to_string(),
            ..Actor::default()
        };
        let event = Event::new("pml.approval.answered", &data);
        self.note(&event.about(&approval.asked.tool).by(&actor));
    }

    /// Records an event after which nothing can be held back any more.
    pub(super) fn note(&self, event: &Event<'_, Value>) {
        if let Err(error) = self.log.record(event) {
            tracing::error!(%error, "an event is missing in the audit log");
        }
    }

    /// The same approver, whose questions and answers are recorded.
    pub fn approver(&self, approver: Arc<dyn Approver>, run: &RunContext) -> Arc<dyn Approver> {
        Arc::new(AuditedApprover {
            trail: self.clone(),
            actor: self.actor(run),
            approver,
        })
    }
}

/// The span of a request or its run; empty if neither is part of a trace.
pub(super) fn traceparent(run: &RunContext) -> String {
    let trace = run.trace().map(TraceContext::traceparent);
    trace.unwrap_or_default()
}

/// How a run ended, in numbers and words of pml.
pub struct RunEnd {
    ok: bool,
    error: Option<String>,
    calls: usize,
    wall_ms: f64,
    cpu_ms: f64,
    /// Values that scrubbing replaced, by kind.
    pub redactions: Map<String, Value>,
}

impl RunEnd {
    /// The end of a run whose reply is not made yet.
    pub fn new(outcome: &Outcome) -> Self {
        Self {
            ok: outcome.ok,
            error: outcome.error.as_ref().map(|error| error.kind.to_string()),
            calls: outcome.calls.len(),
            wall_ms: outcome.stats.wall_ms,
            cpu_ms: outcome.stats.cpu_ms,
            redactions: Map::new(),
        }
    }
}
