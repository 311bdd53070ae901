//! Approval by the person at the client, through MCP's elicitation.

use std::sync::Arc;
use std::time::Duration;

use pml_hosts::{ApprovalRequest, Approver, Decision, DecisionFuture};
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::tool_task::TaskEvent;

const DECISION: &str = "decision";
// Enum values double as labels: MCP's titles for enum values differ between revisions.
const ALL: &str = "Allow all in this script";
const THESE: &str = "Allow these";
const DENY: &str = "Deny";

/// Hands approval requests to the handler of the MCP request, which elicits the answer.
pub struct ElicitationApprover {
    events: mpsc::Sender<TaskEvent>,
    can_ask: bool,
    one_at_a_time: Arc<Mutex<()>>,
}

impl ElicitationApprover {
    /// `can_ask`: whether the client declared the elicitation capability.
    pub fn new(events: mpsc::Sender<TaskEvent>, can_ask: bool) -> Self {
        Self {
            events,
            can_ask,
            one_at_a_time: Arc::default(),
        }
    }
}

impl Approver for ElicitationApprover {
    fn can_ask(&self) -> bool {
        self.can_ask
    }

    fn ask(&self, request: ApprovalRequest, time: Duration) -> DecisionFuture {
        let (events, one_at_a_time) = (self.events.clone(), self.one_at_a_time.clone());
        Box::pin(async move {
            // The time to answer begins when the form is shown.
            let _turn = one_at_a_time.lock().await;
            let (answer, decision) = oneshot::channel();
            let event = TaskEvent::NeedsApproval(request, answer);
            if events.send(event).await.is_err() {
                return Decision::NoAnswer;
            }
            match tokio::time::timeout(time, decision).await {
                Ok(Ok(decision)) => decision,
                _ => Decision::NoAnswer,
            }
        })
    }
}

/// An elicitation that is open at a client. Dropping it cancels it, so that no person is left in
/// front of a form without effect.
pub struct OpenElicitation {
    /// `None` if the request could not be sent, or is answered.
    open: Option<RequestHandle<RoleServer>>,
    time: Duration,
}

impl OpenElicitation {
    /// Sends the request over the connection.
    pub async fn send(peer: &Peer<RoleServer>, request: &ApprovalRequest, time: Duration) -> Self {
        let Some(request) = elicit_request(request) else {
            return Self { open: None, time };
        };
        let request = ServerRequest::ElicitRequest(request);
        let options = PeerRequestOptions::no_options();
        let sent = peer.send_cancellable_request(request, options).await;
        Self {
            open: sent.inspect_err(log_failed_elicitation).ok(),
            time,
        }
    }

    /// Waits for the answer.
    pub async fn decision(&mut self) -> Decision {
        let Some(open) = &mut self.open else {
            return Decision::NotAsked;
        };
        let Ok(answered) = tokio::time::timeout(self.time, &mut open.rx).await else {
            return Decision::NoAnswer;
        };
        self.open = None;
        match answered {
            Ok(Ok(ClientResult::ElicitResult(result))) => decision(&result),
            Ok(Err(error)) => {
                log_failed_elicitation(&error);
                Decision::NotAsked
            }
            Ok(Ok(_)) | Err(_) => Decision::NotAsked,
        }
    }
}

impl Drop for OpenElicitation {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            tokio::spawn(open.cancel(Some("the answer is not needed any more".to_owned())));
        }
    }
}

fn log_failed_elicitation(error: &ServiceError) {
    tracing::warn!(%error, "the client could not ask its user");
}

/// The elicitation of an approval, as MCP has it.
pub fn elicit_request(request: &ApprovalRequest) -> Option<ElicitRequest> {
    Some(ElicitRequest::new(form(request)?))
}

/// The person's decision, if this is an answer to the elicitation.
pub fn decision_of(result: &Value) -> Option<Decision> {
    let result: ElicitResult = serde_json::from_value(result.clone()).ok()?;
    Some(decision(&result))
}

fn form(request: &ApprovalRequest) -> Option<ElicitRequestParams> {
    let choices = match request.offers_all() && !request.shown.is_empty() {
        true => vec![THESE, ALL, DENY],
        false => vec![THESE, DENY],
    };
    serde_json::from_value(json!({
        "mode": "form",
        "message": message(request),
        "requestedSchema": {
            "type": "object",
            "properties": {
                DECISION: {
                    "type": "string",
                    "title": "Decision",
                    "enum": choices,
                    "default": THESE,
                },
            },
        },
    }))
    .ok()
}

fn message(request: &ApprovalRequest) -> String {
    let tool = request.tool.as_str();
    if request.shown.is_empty() {
        return format!(
            "Show {tool} data to the model? The answer is for this session; denied, the values are replaced by \
             placeholders."
        );
    }
    let calls = request.calls();
    let mut message = match (calls, request.not_shown) {
        (1, 0) => format!("Approve 1 call of {tool}?"),
        (calls, 0) => format!("Approve {calls} calls of {tool}?"),
        (calls, more) => format!(
            "Approve these {calls} of {} calls of {tool}? You are asked about the others next.",
            calls + more
        ),
    };
    for call in &request.shown {
        message += "\n- ";
        message += &call.arguments;
        if call.count > 1 {
            message += &format!(" ({} times)", call.count);
        }
    }
    if !request.claims.is_empty() {
        let claims = request.claims.join(", ");
        message += &format!("\nIts server calls this tool {claims}; pml cannot check that.");
    }
    message
}

/// An acceptance without a choice accepts the default. A choice that was not offered allows nothing.
fn decision(result: &ElicitResult) -> Decision {
    if result.action != ElicitationAction::Accept {
        return Decision::Deny;
    }
    let chosen = match &result.content {
        None | Some(Value::Null) => None,
        Some(Value::Object(content)) if content.is_empty() => None,
        Some(content) => Some(content.get(DECISION).and_then(Value::as_str)),
    };
    match chosen {
        None | Some(Some(THESE)) => Decision::AllowThese,
        Some(Some(ALL)) => Decision::AllowAll,
        Some(_) => Decision::Deny,
    }
}

#[cfg(test)]
mod tests {
    use pml_hosts::ShownCall;

    use super::*;

    fn question(counts: &[usize], not_shown: usize) -> ApprovalRequest {
        let call = |count: &usize| ShownCall {
            arguments: "{\"text\":\"hi\"}".into(),
            count: *count,
        };
        ApprovalRequest {
            tool: "slack:post".into(),
            shown: counts.iter().map(call).collect(),
            not_shown,
            claims: vec!["destructive"],
        }
    }

    #[test]
    fn the_question_says_how_many_calls_of_what() {
        let form = form(&question(&[49, 1], 0)).expect("the form is a form of the protocol");
        let form = serde_json::to_value(&form).unwrap();
        assert_eq!(
            form["message"],
            "Approve 50 calls of slack:post?\n- {\"text\":\"hi\"} (49 times)\n- {\"text\":\"hi\"}\n\
             Its server calls this tool destructive; pml cannot check that."
        );
        let decision = &form["requestedSchema"]["properties"]["decision"];
        assert_eq!(decision["default"], THESE);
        assert_eq!(decision["enum"], json!([THESE, ALL, DENY]));
    }

    #[test]
    fn where_calls_are_not_shown_only_the_shown_can_be_allowed() {
        let form = form(&question(&[2], 3)).expect("the form is a form of the protocol");
        let form = serde_json::to_value(&form).unwrap();
        let message = form["message"].as_str().unwrap();
        assert!(
            message.starts_with("Approve these 2 of 5 calls of slack:post? You are asked about"),
            "{message}"
        );
        let decision = &form["requestedSchema"]["properties"]["decision"];
        assert_eq!(decision["enum"], json!([THESE, DENY]));
    }

    #[test]
    fn only_an_acceptance_of_what_was_offered_allows_anything() {
        let said = |json: Value| decision_of(&json);
        let chosen = |content: Value| said(json!({ "action": "accept", "content": content }));
        assert_eq!(
            said(json!({ "action": "accept" })),
            Some(Decision::AllowThese)
        );
        assert_eq!(chosen(json!({})), Some(Decision::AllowThese));
        assert_eq!(chosen(json!({ "decision": ALL })), Some(Decision::AllowAll));
        assert_eq!(
            chosen(json!({ "decision": THESE })),
            Some(Decision::AllowThese)
        );
        for content in [
            json!({ "decision": DENY }),
            json!({ "decision": [ALL] }),
            json!({ "decision": null }),
            json!({ "decision": true }),
            json!({ "Decision": ALL }),
            json!(ALL),
            json!([]),
        ] {
            assert_eq!(chosen(content.clone()), Some(Decision::Deny), "{content}");
        }
        assert_eq!(said(json!({ "action": "decline" })), Some(Decision::Deny));
        assert_eq!(said(json!({ "action": "cancel" })), Some(Decision::Deny));
        for nonsense in [json!("nonsense"), json!({}), json!({ "action": "bogus" })] {
            assert_eq!(said(nonsense), None);
        }
    }
}
