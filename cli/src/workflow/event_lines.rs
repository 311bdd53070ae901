//! `--stream`: a line of JSON for each thing that happens, as it happens.

use std::io::Write;

use pml_workflow::TaskEvent;
use serde_json::{Value, json};

/// Removes what must not be printed.
pub type Scrub = Box<dyn Fn(Value) -> Value + Send + Sync>;

/// Prints events on standard output.
pub struct EventLines {
    scrub: Scrub,
}

impl EventLines {
    pub fn new(scrub: Scrub) -> Self {
        Self { scrub }
    }

    /// Prints an event. A reader that is gone does not end the plan.
    pub fn print(&self, event: &TaskEvent<'_>) {
        let line = (self.scrub)(line_of(event));
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

fn line_of(event: &TaskEvent<'_>) -> Value {
    match event {
        TaskEvent::Started { task } => json!({ "event": "started", "task": task }),
        TaskEvent::Progress {
            task,
            item,
            progress,
        } => json!({
            "event": "progress", "task": task, "item": item,
            "done": progress.done, "total": progress.total, "message": progress.message,
        }),
        TaskEvent::Part {
            task,
            item,
            value,
            items,
        } => json!({
            "event": "part", "task": task, "item": item, "value": value,
            "done": items.0, "total": items.1,
        }),
        TaskEvent::Ended {
            report,
            output,
            progress,
            ..
        } => json!({
            "event": "ended", "task": report.id, "report": report, "output": output,
            "done": progress.0, "total": progress.1,
        }),
    }
}
