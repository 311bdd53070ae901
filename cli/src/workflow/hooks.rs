//! What the command line decides and shows while a plan runs.

use pml_gateway::Gateway;
use pml_protocol::{EffectClass, Failure, FailureKind, LogLine};
use pml_workflow::{ApprovalAsk, RunnerHooks, TaskEvent, TaskFuture, TaskState, show};

use super::event_lines::EventLines;
use crate::confirm;
use crate::diagnostics;
use crate::run::report::print_log;
use crate::style::Style;

pub struct CliHooks {
    /// `None` in a replay.
    pub gateway: Option<Gateway>,
    /// `--yes`
    pub approves_all: bool,
    /// How events are printed as they come; `None` if they are not.
    pub live: Option<Style>,
    /// `--stream`
    pub lines: Option<EventLines>,
    /// How lines of code are printed as they come; `None` if they are not.
    pub logs: Option<Style>,
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

    fn approve<'a>(&'a self, ask: ApprovalAsk<'a>) -> TaskFuture<'a, Result<(), Failure>> {
        let what = ask.tool.unwrap_or("code");
        let about = match ask.message {
            Some(message) => format!("task {} ({what}): {message}", ask.task),
            None => format!("task {} ({what}) asks before it starts", ask.task),
        };
        let (task, approves_all) = (ask.task.to_owned(), self.approves_all);
        Box::pin(async move {
            if approves_all {
                return Ok(());
            }
            if !confirm::can_ask() {
                let message = format!(
                    "task {task} needs approval, and there is no terminal to ask on; run with --yes to approve"
                );
                return Err(Failure::new(FailureKind::Denied, message));
            }
            let about = about.replace(char::is_control, " ");
            let answer = tokio::task::spawn_blocking(move || confirm::confirm(about, "Start it?"));
            match answer.await {
                Ok(true) => Ok(()),
                _ => Err(Failure::new(
                    FailureKind::Denied,
                    "the task was not approved",
                )),
            }
        })
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
