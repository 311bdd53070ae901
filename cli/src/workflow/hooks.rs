//! What the command line decides and shows while a plan runs.

use pml_gateway::Gateway;
use pml_protocol::{EffectClass, Failure, FailureKind, LogLine};
use pml_workflow::{ApprovalAsk, RunnerHooks, TaskEvent, TaskFuture, TaskState, show};

use super::event_lines::EventLines;
use super::task_question::{ask_on_terminal, task_question};
use crate::diagnostics;
use crate::run::report::print_log;
use crate::style::Style;

pub struct CliHooks {
    /// `None` in a replay.
    pub gateway: Option<Gateway>,
    /// Who answers for tasks with `approve`.
    pub approvals: TaskApprovals,
    /// How events are printed as they come; `None` if they are not.
    pub live: Option<Style>,
    /// `--stream`
    pub lines: Option<EventLines>,
    /// How lines of code are printed as they come; `None` if they are not.
    pub logs: Option<Style>,
}

/// Who says whether a task with `approve` may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskApprovals {
    /// `--yes`, or nothing is sent.
    All,
    /// The person at the terminal.
    Terminal,
    /// The approval layer of a durable run, which keeps the answer.
    Pipeline,
}

impl RunnerHooks for CliHooks {
    fn effect<'a>(&'a self, tool: &'a str) -> TaskFuture<'a, EffectClass> {
        Box::pin(async move {
            let Some(gateway) = &self.gateway else {
                return EffectClass::default();
            };
            match gateway.describe_for_call(tool).await {
                Ok(tool) => gateway.effect(&tool).class,
                Err(_) => EffectClass::default(),
            }
        })
    }

    fn approve<'a>(&'a self, ask: &ApprovalAsk<'a>) -> Option<TaskFuture<'a, Result<(), Failure>>> {
        let answer = match self.approvals {
            TaskApprovals::Pipeline => return None,
            TaskApprovals::All => return Some(Box::pin(std::future::ready(Ok(())))),
            TaskApprovals::Terminal => ask_on_terminal(task_question(ask)),
        };
        let task = ask.task;
        Some(Box::pin(async move {
            let why = match answer.await {
                Some(true) => return Ok(()),
                Some(false) => "the user did not allow it".to_owned(),
                None => "it asks a person first, and there is no terminal to ask on; run with --yes to approve, or with --durable to wait for an answer".to_owned(),
            };
            let message = format!("task `{task}` was not started: {why}");
            Err(Failure::new(FailureKind::Denied, message))
        }))
    }

    fn log(&self, _: &str, line: &LogLine) {
        if let Some(style) = self.logs {
            print_log(line, style);
        }
    }

    fn event(&self, event: TaskEvent<'_>) {
        if let Some(lines) = &self.lines {
            lines.print(&event);
        }
        let (
            Some(style),
            TaskEvent::Ended {
                task,
                state,
                report,
                progress,
                ..
            },
        ) = (self.live, event)
        else {
            return;
        };
        let (ended, all) = progress;
        let word = match state {
            TaskState::Done => style.green(state.as_str()),
            TaskState::Failed | TaskState::Unknown => style.red(state.as_str()),
            TaskState::Skipped | TaskState::Cancelled => style.yellow(state.as_str()),
        };
        let why = report.error.as_ref().map_or_else(String::new, |error| {
            format!(": {}", error.message.replace(char::is_control, " "))
        });
        let time = show::time(report.ms);
        let line = format!("{ended}/{all} {word} {task} {time}{why}");
        diagnostics::line(line);
    }
}
