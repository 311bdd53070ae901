//! An approval that a task waits for, as a form for the person at the client.

use pml_approvals::Question;
use pml_store::StoredApproval;
use rmcp::model::{ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Value, json};

const DECISION: &str = "decision";
// Enum values double as labels: MCP's titles for enum values differ between revisions.
const ALLOW: &str = "Allow";
const ALL: &str = "Allow all in this script";
const DENY: &str = "Deny";

/// What the person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormAnswer {
    /// The call may be sent.
    Allow,
    /// The call may be sent, and so may all further calls of its tool in this run.
    AllowAll,
    /// The call is refused.
    Deny,
}

/// The key of an approval among the inputs of its task.
pub fn key_of(approval: &StoredApproval) -> String {
    format!("approval-{}", approval.id)
}

/// The form of an approval.
pub fn form_of(approval: &StoredApproval) -> Option<ElicitRequest> {
    let question = Question::from_bytes(&approval.asked.shown);
    let choices = match question.all_calls {
        Some(_) => vec![ALLOW, ALL, DENY],
        None => vec![ALLOW, DENY],
    };
    let params: ElicitRequestParams = serde_json::from_value(json!({
        "mode": "form",
        "message": message(&approval.asked.tool, &question),
        "requestedSchema": {
            "type": "object",
            "properties": {
                DECISION: { "type": "string", "title": "Decision", "enum": choices, "default": ALLOW },
            },
        },
    }))
    .ok()?;
    Some(ElicitRequest::new(params))
}

fn message(tool: &str, question: &Question) -> String {
    let mut message = format!("Approve 1 call of {tool}?");
    if !question.arguments.is_empty() {
        message += &format!("\n- {}", question.arguments);
    }
    if !question.claims.is_empty() {
        let claims = question.claims.join(", ");
        message += &format!("\nIts server calls this tool {claims}; pml cannot check that.");
    }
    message
}

/// An answer to the form; `None` if it is none.
pub fn answer_of(answer: &Value) -> Option<FormAnswer> {
    let result: ElicitResult = serde_json::from_value(answer.clone()).ok()?;
    Some(parsed_answer(&result))
}

/// The same for a parsed answer. An acceptance without a choice accepts the default, and a choice that was
/// not offered allows nothing.
pub fn parsed_answer(result: &ElicitResult) -> FormAnswer {
    if result.action != ElicitationAction::Accept {
        return FormAnswer::Deny;
    }
    let chosen = match &result.content {
        None | Some(Value::Null) => return FormAnswer::Allow,
        Some(Value::Object(content)) if content.is_empty() => return FormAnswer::Allow,
        Some(content) => content.get(DECISION).and_then(Value::as_str),
    };
    match chosen {
        Some(ALLOW) => FormAnswer::Allow,
        Some(ALL) => FormAnswer::AllowAll,
        _ => FormAnswer::Deny,
    }
}

#[cfg(test)]
mod tests {
    use pml_protocol::TenantId;
    use pml_store::{ApprovalState, NewApproval};

    use super::*;

    #[test]
    fn the_form_shows_the_call_and_only_its_choices_count() {
        let approval = StoredApproval {
            id: "k3f9a2b1".to_owned(),
            asked: NewApproval {
                tenant: TenantId::local(),
                run: "r".parse().unwrap(),
                number: 1,
                tool: "mail:send".to_owned(),
                bound_to: [0; 32],
                shown: Question {
                    arguments: "{\"to\":\"[EMAIL_1]\"}".to_owned(),
                    claims: vec!["destructive".to_owned()],
                    ..Question::default()
                }
                .to_bytes(),
                expires: 0,
            },
            state: ApprovalState::Open,
            created: 0,
            answered: None,
            answered_by: None,
        };
        let form = serde_json::to_value(form_of(&approval).expect("a form")).unwrap();
        let message = form["params"]["message"].as_str().unwrap();
        assert!(
            message.contains("mail:send") && message.contains("[EMAIL_1]"),
            "{message}"
        );
        let chosen = |content: Value| answer_of(&json!({ "action": "accept", "content": content }));
        assert_eq!(
            chosen(json!({ "decision": ALLOW })),
            Some(FormAnswer::Allow)
        );
        assert_eq!(
            chosen(json!({ "decision": ALL })),
            Some(FormAnswer::AllowAll)
        );
        assert_eq!(chosen(json!({})), Some(FormAnswer::Allow));
        for other in [json!({ "decision": DENY }), json!({ "x": 1 }), json!([])] {
            assert_eq!(chosen(other), Some(FormAnswer::Deny));
        }
        let declined = json!({ "action": "decline" });
        assert_eq!(answer_of(&declined), Some(FormAnswer::Deny));
        assert_eq!(answer_of(&json!("nonsense")), None);
    }
}
