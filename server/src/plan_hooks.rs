//! What the server decides and sees while a plan runs: for `execute_workflow`, and for `runWorkflow` in a
//! script.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pml_gateway::Gateway;
use pml_hosts::{ApprovalRequest, Approver, Decision, ShownCall};
use pml_protocol::{EffectClass, Failure, FailureKind, LogLine, RunClock};
use pml_workflow::{ApprovalAsk, RunnerHooks, TaskEvent, TaskFuture};

use crate::session_replies::SessionReplies;

/// Bytes of the lines that the code of a plan logs. Further lines are dropped.
const MAX_LOG_BYTES: usize = 1024 * 1024;

/// The hooks of one plan, or of all plans of one script.
pub struct PlanHooks {
    pub gateway: Gateway,
    pub approver: Arc<dyn Approver>,
    pub replies: SessionReplies,
    /// The clock of the run, which stands while a person is asked.
    pub clock: RunClock,
    /// Sends what happens to a client that wants it.
    pub report: Box<dyn Fn(String) + Send + Sync>,
    pub logs: PlanLogs,
}

/// The lines that the code of a plan logged.
#[derive(Default)]
pub struct PlanLogs(Mutex<(usize, Vec<LogLine>)>);

impl PlanLogs {
    fn add(&self, line: &LogLine) {
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logs.0 += line.text.len();
        if logs.0 <= MAX_LOG_BYTES {
            logs.1.push(line.clone());
        }
    }

    /// The lines so far.
    pub fn take(&self) -> Vec<LogLine> {
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut logs.1)
    }
}

impl PlanHooks {
    async fn ask(&self, ask: ApprovalAsk<'_>) -> Result<(), Failure> {
        let task = ask.task;
        let refused = |why: &str| {
            let message = format!("task {task} was not started: {why}");
            Err(Failure::new(FailureKind::Denied, message))
        };
        if !self.approver.can_ask() {
            return refused("it asks a person first, and this client cannot ask");
        }
        let question = match ask.message {
            Some(message) => format!("task {task}: {message}"),
            None => format!("task {task} asks before it starts"),
        };
        let request = ApprovalRequest {
            tool: self.replies.text(ask.tool.unwrap_or("code")).await,
            shown: vec![ShownCall {
                arguments: self.replies.text(&question).await,
                count: 1,
            }],
            not_shown: 0,
            claims: Vec::new(),
        };
        let _pause = self.clock.pause();
        let time: Duration = self.gateway.approval_time();
        match self.approver.ask(request, time).await {
            Decision::AllowAll | Decision::AllowThese => Ok(()),
            Decision::Deny => refused("the user did not allow it"),
            Decision::NoAnswer => refused("the user did not answer in time"),
            Decision::CannotAsk | Decision::NotAsked => refused("the user could not be asked"),
        }
    }
}

impl RunnerHooks for PlanHooks {
    fn effect<'a>(&'a self, tool: &'a str) -> TaskFuture<'a, EffectClass> {
        Box::pin(async move {
            match self.gateway.describe_for_call(tool).await {
                Ok(tool) => self.gateway.effect(&tool).class,
                Err(_) => EffectClass::default(),
            }
        })
    }

    fn approve<'a>(&'a self, ask: ApprovalAsk<'a>) -> TaskFuture<'a, Result<(), Failure>> {
        Box::pin(self.ask(ask))
    }

    fn log(&self, _: &str, line: &LogLine) {
        self.logs.add(line);
    }

    fn event(&self, event: TaskEvent<'_>) {
        if let Some(text) = progress_text(&event) {
            (self.report)(text);
        }
    }
}

/// An event as a progress notification says it.
fn progress_text(event: &TaskEvent<'_>) -> Option<String> {
    match event {
        TaskEvent::Started { .. } => None,
        TaskEvent::Progress { task, progress, .. } => {
            let of = progress
                .total
                .map_or_else(String::new, |total| format!(" of {total}"));
            let message = progress.message.as_deref().unwrap_or_default();
            Some(format!("{task}: {}{of} {message}", progress.done))
        }
        TaskEvent::Part { task, items, .. } => {
            Some(format!("{task}: {} of {} items", items.0, items.1))
        }
        TaskEvent::Ended {
            task,
            state,
            progress,
            ..
        } => {
            let (ended, all) = progress;
            Some(format!("{ended} of {all} tasks, {} {task}", state.as_str()))
        }
    }
}
