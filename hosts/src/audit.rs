//! The layer that writes the audit log: the intent of every request that reaches a server, and its
//! outcome.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_audit::{Actor, AuditLog, Event, digest};
use pml_gateway::off_loop::off_loop;
use pml_protocol::{
    Failure, FailureKind, HostFuture, Outcome, Request, ResourceRequest, RunContext, Target,
    ToolHost, ToolResult, millis,
};
use pml_store::StoredApproval;
use pml_telemetry::Anomaly;
use serde_json::{Map, Value, json};

use crate::approval::{ApprovalRequest, Approver, Decision, DecisionFuture};

/// The audit log of a process, and the rules that its events happen under. Cheap to clone.
#[derive(Clone)]
pub struct AuditTrail {
    log: Arc<AuditLog>,
    policy: Arc<str>,
    lock: Arc<str>,
    /// The references of the credentials of each server.
    credentials: Arc<BTreeMap<String, Vec<String>>>,
}

impl AuditTrail {
    /// Writes to `log`; `policy` and `lock` are digests of the rules.
    pub fn new(log: Arc<AuditLog>, policy: &str, lock: &str) -> Self {
        Self {
            log,
            policy: policy.into(),
            lock: lock.into(),
            credentials: Arc::default(),
        }
    }

    /// Records which credentials a call used: of each server the references, never the values.
    #[must_use]
    pub fn with_credentials(mut self, credentials: BTreeMap<String, Vec<String>>) -> Self {
        self.credentials = Arc::new(credentials);
        self
    }

    fn actor(&self, run: &RunContext) -> Actor {
        Actor {
            tenant: run.tenant().to_string(),
            principal: run.principal().to_string(),
            session: run.session().to_string(),
            run: run.id().to_string(),
            policy: self.policy.to_string(),
            lock: self.lock.to_string(),
        }
    }

    /// Records how a run ended. `redactions` are the values that were replaced in its reply, by kind.
    pub fn run_ended(&self, run: &RunContext, script: &str, ended: &RunEnd) {
        let data = json!({
            "script": digest(script.as_bytes()),
            "ok": ended.ok,
            "error": ended.error,
            "calls": ended.calls,
            "wallMs": ended.wall_ms,
            "cpuMs": ended.cpu_ms,
            "redactions": ended.redactions,
        });
        self.note(&Event::new("pml.run.ended", &data).by(&self.actor(run)));
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
        pending
            .begin(&digest(arguments.as_bytes()))
            .map_err(refused)?;
        Ok(pending)
    }

    /// Records a sudden change of a tool.
    pub fn anomaly(&self, anomaly: &Anomaly) {
        let data = json!({
            "signal": anomaly.signal.as_str(),
            "value": anomaly.value,
            "usual": anomaly.usual,
            "deviations": anomaly.deviations,
            "calls": anomaly.calls,
            "suspended": anomaly.is_suspended,
        });
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
    fn note(&self, event: &Event<'_, Value>) {
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

/// Records every question to a person, what it showed, and the answer.
struct AuditedApprover {
    trail: AuditTrail,
    actor: Actor,
    approver: Arc<dyn Approver>,
}

impl Approver for AuditedApprover {
    fn can_ask(&self) -> bool {
        self.approver.can_ask()
    }

    fn ask(&self, request: ApprovalRequest, time: Duration) -> DecisionFuture {
        let tool = request.tool.as_str().to_owned();
        // What a person sees is scrubbed.
        let shown: Vec<&str> = request
            .shown
            .iter()
            .map(|call| call.arguments.as_str())
            .collect();
        let question =
            json!({ "calls": request.calls(), "shown": shown, "claims": request.claims });
        let asked = Event::new("pml.approval.asked", &question)
            .about(&tool)
            .by(&self.actor);
        self.trail.note(&asked);
        let asking = self.approver.ask(request, time);
        let (trail, actor) = (self.trail.clone(), self.actor.clone());
        Box::pin(async move {
            let decision = asking.await;
            let data = json!({ "decision": word(decision), "by": actor.principal });
            trail.note(
                &Event::new("pml.approval.answered", &data)
                    .about(&tool)
                    .by(&actor),
            );
            decision
        })
    }
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::AllowAll => "allow all",
        Decision::AllowThese => "allow",
        Decision::Deny => "deny",
        Decision::NoAnswer => "no answer",
        Decision::CannotAsk => "cannot ask",
        Decision::NotAsked => "not asked",
    }
}

/// Records the intent of a request before anything else happens to it, and its outcome. A request
/// that only pml itself answers is not recorded.
pub struct Audit<H> {
    inner: H,
    trail: AuditTrail,
}

impl<H> Audit<H> {
    /// Records the requests of `inner`.
    pub fn new(trail: AuditTrail, inner: H) -> Self {
        Self { inner, trail }
    }
}

/// What a request is recorded as: its subject, and the arguments of which the digest is kept.
fn recorded(request: &Request) -> Option<(&'static str, String, &str)> {
    match request.target() {
        Target::Tool { tool, args } => Some(("call", tool.to_owned(), args.get())),
        Target::Resources { server, request } => Some(match request {
            ResourceRequest::ListResources => ("resource", format!("{server}:resources"), ""),
            ResourceRequest::ReadResource { uri } => {
                ("resource", format!("{server}:resource"), uri)
            }
            ResourceRequest::ListPrompts => ("resource", format!("{server}:prompts"), ""),
            ResourceRequest::GetPrompt { name, args } => {
                ("resource", format!("{server}:prompt:{name}"), args.get())
            }
        }),
        Target::Local => None,
    }
}

/// Where the answer to a request is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredBy {
    /// The request was sent.
    Server,
    /// The same request was sent before the script made it.
    Speculation,
    /// The journal of a resumed run had the answer: nothing was sent.
    Journal,
}

impl AnsweredBy {
    fn of(run: &RunContext) -> Self {
        match (run.took_speculated(), run.dispatched_at()) {
            (true, _) => Self::Speculation,
            (false, Some(_)) => Self::Server,
            (false, None) => Self::Journal,
        }
    }
}

impl<H: ToolHost> ToolHost for Audit<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        let Some((kind, subject, arguments)) = recorded(request) else {
            return self.inner.handle(request, run);
        };
        Box::pin(async move {
            let mut pending = PendingCall::new(&self.trail, run, kind, subject);
            let owner = &pending.actor.principal;
            let arguments = off_loop(owner, arguments.len(), || digest(arguments.as_bytes()));
            pending.begin(&arguments).map_err(refused)?;
            let result = self.inner.handle(request, run).await;
            let ended = result.as_ref().map(|value| value.get());
            let answered = AnsweredBy::of(run);
            pending.end(ended.map_err(|failure| failure.kind.as_str()), answered);
            result
        })
    }
}

fn refused(error: pml_audit::AuditError) -> Failure {
    let message = format!(
        "the call is not sent, because it cannot be recorded (`pml.audit.onFailure` is `block`): {error}"
    );
    Failure {
        retryable: true,
        ..Failure::new(FailureKind::Unavailable, message)
    }
}

/// A request whose intent is recorded. Dropping it records that it was cancelled.
pub struct PendingCall<'a> {
    trail: &'a AuditTrail,
    actor: Actor,
    kind: &'static str,
    subject: String,
    /// The number that the outcome refers to.
    intent: u64,
    began: Instant,
    is_ended: bool,
    /// The script has not made the request yet.
    is_speculative: bool,
}

impl<'a> PendingCall<'a> {
    fn new(trail: &'a AuditTrail, run: &RunContext, kind: &'static str, subject: String) -> Self {
        Self {
            trail,
            actor: trail.actor(run),
            kind,
            subject,
            intent: 0,
            began: Instant::now(),
            is_ended: false,
            is_speculative: run.is_speculative(),
        }
    }

    fn begin(&mut self, arguments: &str) -> Result<(), pml_audit::AuditError> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static INTENTS: AtomicU64 = AtomicU64::new(1);
        self.intent = INTENTS.fetch_add(1, Ordering::Relaxed);
        let mut data = json!({ "intent": self.intent, "arguments": arguments });
        if self.is_speculative {
            data["speculative"] = true.into();
        }
        let recorded = self.record("intent", &data);
        self.is_ended = recorded.is_err();
        recorded
    }

    fn record(&self, what: &str, data: &Value) -> Result<(), pml_audit::AuditError> {
        let kind = format!("pml.{}.{what}", self.kind);
        let event = Event::new(&kind, data).about(&self.subject).by(&self.actor);
        self.trail.log.record(&event)
    }

    /// Records how it ended: its result as JSON, or the kind of its error.
    pub fn end(mut self, result: Result<&str, &str>, answered: AnsweredBy) {
        self.is_ended = true;
        let mut data = json!({
            "intent": self.intent,
            "ok": result.is_ok(),
            "ms": millis(self.began.elapsed()),
        });
        let server = self.subject.split(':').next().unwrap_or_default();
        if let Some(references) = self
            .trail
            .credentials
            .get(server)
            .filter(|_| answered != AnsweredBy::Journal)
        {
            data["credentials"] = json!(references);
        }
        match result {
            Ok(text) => {
                let digest = off_loop(&self.actor.principal, text.len(), || {
                    digest(text.as_bytes())
                });
                data["result"] = digest.into();
                data["bytes"] = text.len().into();
                data["replayed"] = (answered == AnsweredBy::Journal).into();
                if answered == AnsweredBy::Speculation {
                    data["speculated"] = true.into();
                }
            }
            Err(kind) => data["error"] = kind.into(),
        }
        let is_denied = result == Err(FailureKind::Denied.as_str());
        self.note(if is_denied { "denied" } else { "outcome" }, &data);
    }

    fn note(&self, what: &str, data: &Value) {
        if let Err(error) = self.record(what, data) {
            tracing::error!(%error, "an outcome is missing in the audit log");
        }
    }
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        if !self.is_ended {
            let data = json!({
                "intent": self.intent, "ok": false, "error": "cancelled",
                "ms": millis(self.began.elapsed()),
            });
            self.note("outcome", &data);
        }
    }
}

#[cfg(test)]
mod tests {
    use pml_audit::{AuditFolder, Filter, LogOptions, verify_folder};
    use serde_json::value::RawValue;

    use super::*;
    use crate::static_host::StaticHost;

    fn trail(folder: &std::path::Path) -> AuditTrail {
        let options = LogOptions {
            sync: false,
            ..LogOptions::default()
        };
        let log = AuditLog::open(folder, options).unwrap();
        AuditTrail::new(Arc::new(log), "p", "l")
    }

    fn call(tool: &str, args: &str) -> Request {
        Request::call(tool, RawValue::from_string(args.to_owned()).unwrap())
    }

    fn events(folder: &std::path::Path, kind: &str) -> Vec<Value> {
        let filter = Filter {
            kind: Some(kind.to_owned()),
            ..Filter::default()
        };
        let found = AuditFolder::open(folder).unwrap().query(&filter).unwrap();
        found.into_iter().map(|entry| entry.event).collect()
    }

    /// Waits for ever in calls, and answers everything else.
    struct Silent;

    impl ToolHost for Silent {
        fn handle<'a>(
            &'a self,
            request: &'a Request,
            _: &'a RunContext,
        ) -> HostFuture<'a, ToolResult> {
            match request {
                Request::Call { tool, .. } if tool == "a:refused" => {
                    Box::pin(async { Err(Failure::new(FailureKind::Denied, "no")) })
                }
                Request::Call { .. } => Box::pin(std::future::pending()),
                _ => Box::pin(async { pml_protocol::to_result(&1) }),
            }
        }
    }

    #[tokio::test]
    async fn a_call_has_an_intent_and_an_outcome_with_digests_alone() {
        let folder = tempfile::tempdir().unwrap();
        let host = Audit::new(trail(folder.path()), StaticHost::empty());
        let run = RunContext::local();
        let result = host
            .handle(&call("a:b", r#"{"secret":"hunter2"}"#), &run)
            .await;
        assert!(result.is_err(), "there is no such tool");
        let found = events(folder.path(), "pml.call");
        assert_eq!(found.len(), 2, "{found:#?}");
        assert_eq!(found[0]["type"], "pml.call.intent");
        assert_eq!(found[0]["subject"], "a:b");
        assert_eq!(found[0]["runid"], run.id().to_string());
        assert_eq!(found[0]["principal"], "local");
        assert_eq!(
            (&found[0]["policyhash"], &found[0]["lockhash"]),
            (&json!("p"), &json!("l"))
        );
        assert_eq!(
            found[0]["data"]["arguments"],
            digest(br#"{"secret":"hunter2"}"#)
        );
        assert_eq!(found[1]["data"]["intent"], found[0]["data"]["intent"]);
        assert_eq!(found[1]["data"]["error"], "unknown");
        assert!(!format!("{found:?}").contains("hunter2"));
    }

    /// Answers every call as a server does.
    struct Sent;

    impl ToolHost for Sent {
        fn handle<'a>(&'a self, _: &'a Request, run: &'a RunContext) -> HostFuture<'a, ToolResult> {
            run.mark_dispatched();
            Box::pin(async { pml_protocol::to_result(&1) })
        }
    }

    #[tokio::test]
    async fn the_outcome_of_a_call_names_its_credentials_and_not_their_values() {
        let folder = tempfile::tempdir().unwrap();
        let named = BTreeMap::from([("a".to_owned(), vec!["secret:env/TOKEN".to_owned()])]);
        let host = Audit::new(trail(folder.path()).with_credentials(named), Sent);
        for tool in ["a:b", "other:b"] {
            let run = RunContext::local();
            host.handle(&call(tool, "{}"), &run).await.unwrap();
        }
        let found = events(folder.path(), "pml.call.outcome");
        assert_eq!(found[0]["data"]["credentials"], json!(["secret:env/TOKEN"]));
        assert_eq!(found[1]["data"].get("credentials"), None);
    }

    #[tokio::test]
    async fn denied_and_cancelled_calls_are_recorded_and_local_requests_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let trail = trail(folder.path());
        let host = Audit::new(trail.clone(), Silent);
        let run = RunContext::local();
        let load = Request::Load {
            key: "k".to_owned(),
        };
        assert!(host.handle(&load, &run).await.is_ok());
        assert!(host.handle(&call("a:refused", "{}"), &run).await.is_err());
        let forever = call("a:forever", "{}");
        let open = host.handle(&forever, &run);
        assert!(
            tokio::time::timeout(Duration::from_millis(20), open)
                .await
                .is_err()
        );
        let kinds: Vec<_> = events(folder.path(), "pml.call")
            .into_iter()
            .map(|event| event["type"].clone())
            .collect();
        assert_eq!(
            kinds,
            [
                "pml.call.intent",
                "pml.call.denied",
                "pml.call.intent",
                "pml.call.outcome"
            ]
        );
        assert_eq!(
            events(folder.path(), "pml.call.outcome")[0]["data"]["error"],
            "cancelled"
        );
        trail.log.close();
        assert!(verify_folder(folder.path(), &[]).unwrap().is_whole());
    }
}
