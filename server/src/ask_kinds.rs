//! Asks the person about kinds of private data with the action `ask`, before a reply that has them is made.

use std::time::Duration;

use pml_hosts::{ApprovalRequest, Approver, Decision};
use pml_protocol::{Outcome, ToolResult};

use crate::session_replies::SessionReplies;

/// The texts of a reply, taken before it is made.
#[derive(Default)]
pub struct ReplyTexts {
    /// The result, as JSON.
    pub result: Option<String>,
    /// Logs and messages.
    pub texts: Vec<String>,
    /// The tool that returned the result, if it came directly from one.
    pub tool: Option<String>,
}

impl ReplyTexts {
    pub fn of_outcome(outcome: &Outcome) -> Self {
        let messages = outcome.error.iter().map(|error| error.message.clone());
        let logs = outcome.logs.iter().map(|line| line.text.clone());
        Self {
            result: outcome
                .result
                .as_ref()
                .map(|result| result.get().to_owned()),
            texts: logs.chain(messages).collect(),
            tool: None,
        }
    }

    pub fn of_result(tool: &str, result: &ToolResult) -> Self {
        Self {
            result: result.as_ref().ok().map(|result| result.get().to_owned()),
            texts: result
                .as_ref()
                .err()
                .map(|failure| failure.message.clone())
                .into_iter()
                .collect(),
            tool: Some(tool.to_owned()),
        }
    }
}

/// Asks about each kind in the texts that has no answer in this session yet. Where no person can be asked, or
/// none answers, nothing is decided, and the reply is refused.
pub async fn ask_about_kinds(
    replies: &SessionReplies,
    approver: &dyn Approver,
    time: Duration,
    texts: impl FnOnce() -> ReplyTexts,
) {
    if !approver.can_ask() || !replies.may_ask().await {
        return;
    }
    for kind in replies.undecided(texts()).await {
        // A question without calls is about a kind: see `elicitation`.
        let request = ApprovalRequest {
            tool: kind.as_str().into(),
            shown: Vec::new(),
            not_shown: 0,
            claims: Vec::new(),
        };
        match approver.ask(request, time).await {
            Decision::AllowAll | Decision::AllowThese => replies.decide(kind, true).await,
            Decision::Deny => replies.decide(kind, false).await,
            Decision::NoAnswer | Decision::CannotAsk | Decision::NotAsked => {}
        }
    }
}
