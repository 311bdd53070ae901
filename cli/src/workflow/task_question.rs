//! The question before a task with `approve`, on the terminal.

use std::time::Duration;

use pml_hosts::{ApprovalRequest, Approver, Decision, DecisionFuture};
use pml_workflow::ApprovalAsk;

use crate::confirm;

/// The words of a question about a task.
pub fn task_question(ask: &ApprovalAsk<'_>) -> String {
    let what = ask.tool.unwrap_or("code");
    match ask.message {
        Some(message) => format!("task {} ({what}): {message}", ask.task),
        None => format!("task {} ({what}) asks before it starts", ask.task),
    }
}

/// Asks on the terminal, in a thread of its own: the run does not wait for it when it ends. `None` without a
/// terminal.
pub async fn ask_on_terminal(about: String) -> Option<bool> {
    if !confirm::can_ask() {
        return None;
    }
    let about = about.replace(char::is_control, " ");
    let (sender, answer) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // Without a receiver, the run has ended.
        let _ = sender.send(confirm::confirm(about, "Start it?"));
    });
    answer.await.ok()
}

/// Answers the questions before the tasks of a durable plan: with `--yes`, or on the terminal. The approval
/// layer keeps the answers.
pub struct TaskApprover {
    /// `--yes`
    pub approves_all: bool,
}

impl Approver for TaskApprover {
    fn can_ask(&self) -> bool {
        self.approves_all || confirm::can_ask()
    }

    fn ask(&self, request: ApprovalRequest, _: Duration) -> DecisionFuture {
        if self.approves_all {
            return Box::pin(std::future::ready(Decision::AllowThese));
        }
        let shown = request.shown.iter().map(|call| call.arguments.as_str());
        let about = format!(
            "{}: {}",
            request.tool.as_str(),
            shown.collect::<Vec<_>>().join(", ")
        );
        Box::pin(async move {
            match ask_on_terminal(about).await {
                Some(true) => Decision::AllowThese,
                Some(false) => Decision::Deny,
                None => Decision::CannotAsk,
            }
        })
    }
}
