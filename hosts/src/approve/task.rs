//! The question before a task of a plan, which the plan asks and not the operator's policy.
//!
//! It is answered as the approval of a call is: by the user of the client, or in a durable run by anybody who may
//! approve calls of the tool, now or after a restart. The answer is for this task alone.

use pml_gateway::policy::approval::Approval;
use pml_protocol::{Failure, FailureKind, Request, RunContext};
use serde_json::json;

use super::Approve;
use super::person::{Asked, Details};

/// What a task without a tool is asked about as.
const CODE: &str = "pml:execute_code";

/// A task with `approve`.
pub(super) struct AskedTask<'a> {
    pub task: &'a str,
    /// `None` for code.
    pub tool: Option<&'a str>,
    pub question: Option<&'a str>,
}

impl<H> Approve<H> {
    /// Returns when a person has allowed the task.
    pub(super) async fn admit_task(
        &self,
        asked: AskedTask<'_>,
        request: &Request,
        run: &RunContext,
    ) -> Result<(), Failure> {
        let AskedTask {
            task,
            tool,
            question,
        } = asked;
        // Another plan of the same run may have a task of this name.
        let known_by = format!(
            "task {task} of {}: {}",
            tool.unwrap_or(CODE),
            question.unwrap_or_default()
        );
        let details = match question {
            Some(question) => json!({ "task": task, "question": question }),
            None => json!({ "task": task }),
        };
        let asked = Asked {
            id: tool.unwrap_or(CODE),
            definition: &known_by,
            details: Details::Resource(details),
            claims: Vec::new(),
            task: Some(&known_by),
        };
        let admitted = self.admit(Approval::Needed, asked, request, run).await;
        admitted.map_err(|failure| match failure.kind {
            FailureKind::Denied if !run.notes().is_asked() => {
                let message = format!(
                    "task `{task}` was not started: it asks a person first, and this client cannot ask"
                );
                Failure::new(FailureKind::Denied, message)
            }
            FailureKind::Denied => {
                // The words behind those about a call, which there is none of.
                let why = failure.message.split_once(" was not called: ");
                let why = why.map_or(failure.message.as_str(), |(_, why)| why);
                let message = format!("task `{task}` was not started: {why}");
                Failure { message, ..failure }
            }
            _ => failure,
        })
    }
}
