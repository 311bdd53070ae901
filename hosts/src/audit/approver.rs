//! Records every question to a person, what it showed, and the answer.

use std::sync::Arc;
use std::time::Duration;

use pml_audit::{Actor, Event};
use serde_json::json;

use super::trail::AuditTrail;
use crate::approval::{ApprovalRequest, Approver, Decision, DecisionFuture};

/// An approver whose questions and answers are recorded.
pub(super) struct AuditedApprover {
    pub trail: AuditTrail,
    pub actor: Actor,
    pub approver: Arc<dyn Approver>,
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
