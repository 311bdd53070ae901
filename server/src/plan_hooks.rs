//! What the server decides and sees while a plan runs: for `execute_workflow`, and for `runWorkflow` in a
//! script.

use std::sync::{Mutex, PoisonError};

use pml_gateway::Gateway;
use pml_protocol::{EffectClass, LogLine};
use pml_workflow::{RunnerHooks, TaskEvent, TaskFuture};

/// Bytes of the lines that the code of a plan logs. Further lines are dropped.
const MAX_LOG_BYTES: usize = 1024 * 1024;

/// The hooks of one plan, or of all plans of one script.
pub struct PlanHooks {
    pub gateway: Gateway,
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

impl RunnerHooks for PlanHooks {
    fn effect<'a>(&'a self, tool: &'a str) -> TaskFuture<'a, EffectClass> {
        Box::pin(async move {
            match self.gateway.describe_for_call(tool).await {
                Ok(tool) => self.gateway.effect(&tool).class,
                Err(_) => EffectClass::default(),
            }
        })
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
