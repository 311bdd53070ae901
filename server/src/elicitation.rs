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
    let tool = request.tool.as_str();
    let calls = match request.calls {
        1 => "1 call".to_owned(),
        many => format!("{many} calls"),
    };
    let mut message = format!("Approve {calls} of {tool}?");
    for arguments in &request.arguments {
        message += "\n- ";
        message += arguments;
    }
    if request.calls > request.arguments.len() {
        message += &format!("\n- and {} more", request.calls - request.arguments.len());
    }
    serde_json::from_value(json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                DECISION: {
                    "type": "string",
                    "title": "Decision",
                    "enum": [ALL, THESE, DENY],
                    "default": ALL,
                },
            },
        },
    }))
    .ok()
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
        None | Some(Some(ALL)) => Decision::AllowAll,
        Some(Some(THESE)) => Decision::AllowThese,
        Some(_) => Decision::Deny,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(calls: usize) -> ApprovalRequest {
        ApprovalRequest {
            tool: "slack:post".into(),
            calls,
            arguments: vec!["{\"text\":\"hi\"}".into()],
        }
    }

    #[test]
    fn the_question_says_how_many_calls_of_what() {
        let form = form(&question(50)).expect("the form is a form of the protocol");
        let text = serde_json::to_value(&form).unwrap();
        let message = text["message"].as_str().unwrap();
        assert!(
            message.starts_with("Approve 50 calls of slack:post?"),
            "{message}"
        );
        assert!(message.ends_with("and 49 more"), "{message}");
    }

    #[test]
    fn only_an_acceptance_of_what_was_offered_allows_anything() {
        let said = |json: Value| decision_of(&json);
        let chosen = |content: Value| said(json!({ "action": "accept", "content": content }));
        assert_eq!(
            said(json!({ "action": "accept" })),
            Some(Decision::AllowAll)
        );
        assert_eq!(chosen(json!({})), Some(Decision::AllowAll));
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
