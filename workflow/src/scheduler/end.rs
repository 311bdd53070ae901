//! What the end of a step means: for its task, its race, and the tasks behind it.

use std::sync::Arc;

use pml_protocol::{Failure, FailureKind};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Scheduler;
use super::attempt::StepEnd;
use super::node::{StepId, StepKind};
use super::start::cancelled;
use crate::plan::{Fallback, ReportOrder};
use crate::report::TaskState;
use crate::runner::TaskEvent;

impl Scheduler<'_> {
    pub(super) fn step_ended(&mut self, end: StepEnd) {
        let id = end.id;
        if !self.release(id) {
            return;
        }
        self.note_time(&end);
        match (id.kind, end.result) {
            (StepKind::Approval, Ok(_)) => {
                self.nodes[id.node].is_approved = true;
                self.queue(id.node);
            }
            (StepKind::Approval, Err(failure)) => self.fail(id.node, failure, false),
            (_, Ok(value)) => self.step_succeeded(id, value),
            (StepKind::Task, Err(failure)) => {
                let has_fallback = self.plan.tasks[id.node].fallback.is_some();
                match has_fallback {
                    true => self.begin_fallback(id, &failure),
                    false => self.step_failed(id, failure, end.is_unknown),
                }
            }
            (StepKind::Fallback, Err(failure)) => {
                if let Some(Fallback::Task(other)) = self.plan.tasks[id.node].fallback
                    && id.item.is_none()
                {
                    self.set_ended(other, TaskState::Failed, None, Some(failure.clone()));
                }
                self.step_failed(id, failure, end.is_unknown);
            }
        }
        self.look_at_unlocked();
    }

    fn note_time(&mut self, end: &StepEnd) {
        let node = &mut self.nodes[end.id.node];
        node.busy += end.time;
        node.attempts += end.attempts;
        // A fallback has another tool.
        let is_task = end.id.kind == StepKind::Task;
        if let Some(tool) = self.plan.tasks[end.id.node].tool().filter(|_| is_task) {
            let (count, mean) = self.means.entry(tool).or_default();
            *count += 1;
            *mean = (*mean * (*count - 1) + end.time) / *count;
        }
    }

    /// The fallback sees the failure as `$ERROR`.
    fn begin_fallback(&mut self, id: StepId, failure: &Failure) {
        self.queue_fallback(id, failure_value(failure));
    }

    fn step_succeeded(&mut self, id: StepId, value: Value) {
        let node = &mut self.nodes[id.node];
        node.used_fallback |= id.kind == StepKind::Fallback;
        let Some(index) = id.item else {
            if id.kind == StepKind::Fallback {
                self.errors[id.node] = None;
                if let Some(Fallback::Task(other)) = self.plan.tasks[id.node].fallback {
                    self.set_ended(other, TaskState::Done, Some(value.clone()), None);
                }
            }
            return self.set_ended(id.node, TaskState::Done, Some(value), None);
        };
        if let Some(items) = &mut node.items {
            items.ended += 1;
            if self.plan.tasks[id.node].stream {
                self.runner.event(TaskEvent::Part {
                    task: &self.plan.tasks[id.node].id,
                    item: index,
                    value: &value,
                    items: (items.ended, items.list.len()),
                });
            }
            items.results[index] = value;
        }
        self.item_ended(id.node);
    }

    fn step_failed(&mut self, id: StepId, failure: Failure, is_unknown: bool) {
        let is_optional = self.plan.tasks[id.node].optional;
        let node = &mut self.nodes[id.node];
        match &mut node.items {
            Some(items) if is_optional => {
                items.ended += 1;
                items.failed += 1;
                node.error.get_or_insert(failure);
                self.item_ended(id.node);
            }
            // One item that must not fail ends the others.
            _ => {
                self.cancel_steps(id.node);
                self.fail(id.node, failure, is_unknown);
            }
        }
    }

    /// The task is done when its last item has ended; else another item can start.
    fn item_ended(&mut self, node: usize) {
        let Some(items) = &mut self.nodes[node].items else {
            return;
        };
        if items.ended < items.list.len() {
            if items.next < items.list.len() {
                self.queue(node);
            }
            return;
        }
        items.list = Vec::new();
        let (results, failed) = (std::mem::take(&mut items.results), items.failed);
        let error = self.nodes[node].error.take();
        match failed == results.len() {
            true => {
                let failure = error.unwrap_or_else(|| cancelled("every item failed"));
                self.fail(node, failure, false);
            }
            false => self.set_ended(node, TaskState::Done, Some(Value::Array(results)), error),
        }
    }

    pub(super) fn fail(&mut self, node: usize, failure: Failure, is_unknown: bool) {
        let task = &self.plan.tasks[node];
        self.has_failed |= !task.optional && task.race.is_none();
        let state = match is_unknown {
            true => TaskState::Unknown,
            false => TaskState::Failed,
        };
        self.set_ended(node, state, None, Some(failure));
    }

    /// Notes the end of a node, and unlocks what waits for it.
    pub(super) fn set_ended(
        &mut self,
        node: usize,
        state: TaskState,
        output: Option<Value>,
        error: Option<Failure>,
    ) {
        if self.nodes[node].state.is_some() {
            return;
        }
        self.nodes[node].state = Some(state);
        self.nodes[node].end = Some(Instant::now());
        if let Some(error) = &error {
            self.errors[node] = Some(Arc::new(failure_value(error)));
        }
        self.nodes[node].error = error;
        self.outputs[node] = output.map(Arc::new);
        self.unlock_after(node);
        if node < self.plan.tasks.len() {
            self.ended_tasks += 1;
            self.emit(node);
            self.note_race(node, state);
        }
    }

    fn unlock_after(&mut self, node: usize) {
        let graph = self.plan.graph();
        for &after in graph.after(node) {
            let waiting = &mut self.nodes[after].waiting;
            *waiting = waiting.saturating_sub(1);
            if *waiting == 0 {
                self.unlocked.push(after);
            }
        }
        for edge in graph.before(node) {
            self.consumers[edge.node] -= 1;
            self.drop_unneeded(edge.node);
        }
    }

    /// The first success of a race ends the others.
    fn note_race(&mut self, node: usize, state: TaskState) {
        let Some(race) = self.plan.tasks[node].race else {
            return;
        };
        let race_node = self.plan.tasks.len() + race;
        if self.nodes[race_node].state.is_some() {
            return;
        }
        let members = &self.plan.races[race].members;
        if state == TaskState::Done {
            self.nodes[race_node].state = Some(TaskState::Done);
            self.outputs[race_node] = self.outputs[node].clone();
            self.unlock_after_race(race_node);
            let name = &self.plan.tasks[node].id;
            for &member in members {
                if self.nodes[member].state.is_some() {
                    continue;
                }
                self.cancel_steps(member);
                let failure = cancelled(&format!("`{name}` won the race"));
                self.set_ended(member, TaskState::Cancelled, None, Some(failure));
            }
        } else if members
            .iter()
            .all(|member| self.nodes[*member].state.is_some())
        {
            let first = members
                .iter()
                .find_map(|member| self.nodes[*member].error.clone());
            let message = match first {
                Some(first) => format!("no task of the race succeeded: {}", first.message),
                None => "no task of the race succeeded".to_owned(),
            };
            let failure = Failure::new(FailureKind::Tool, message);
            self.errors[race_node] = Some(Arc::new(failure_value(&failure)));
            self.nodes[race_node].error = Some(failure);
            self.nodes[race_node].state = Some(TaskState::Failed);
            self.has_failed |= members
                .iter()
                .any(|member| !self.plan.tasks[*member].optional);
            self.unlock_after_race(race_node);
        }
    }

    fn unlock_after_race(&mut self, race: usize) {
        for &after in self.plan.graph().after(race) {
            let waiting = &mut self.nodes[after].waiting;
            *waiting = waiting.saturating_sub(1);
            if *waiting == 0 {
                self.unlocked.push(after);
            }
        }
    }

    /// Reports a task, at once or in the order of the plan.
    pub(super) fn emit(&mut self, node: usize) {
        match self.plan.order {
            // It is reported when its calls are settled.
            ReportOrder::Completion if self.is_settling(node) => {}
            ReportOrder::Completion => self.emit_one(node),
            ReportOrder::Submission => {
                while self.next_report < self.plan.tasks.len()
                    && self.nodes[self.next_report].state.is_some()
                    && !self.is_settling(self.next_report)
                {
                    let next = self.next_report;
                    self.emit_one(next);
                    self.next_report += 1;
                    self.drop_unneeded(next);
                }
            }
        }
    }

    /// Drops the output of a node if nothing needs it any more: no task, no report, and not the result.
    fn drop_unneeded(&mut self, node: usize) {
        let is_task = node < self.plan.tasks.len();
        let is_reported = self.plan.order == ReportOrder::Completion || node < self.next_report;
        if self.consumers[node] == 0 && !self.kept[node] && (is_reported || !is_task) {
            self.outputs[node] = None;
        }
    }

    fn emit_one(&self, node: usize) {
        let report = self.task_report(node);
        self.runner.event(TaskEvent::Ended {
            task: &self.plan.tasks[node].id,
            state: report.state,
            report: &report,
            output: self.outputs[node].as_deref(),
            progress: (self.ended_tasks, self.plan.tasks.len()),
        });
    }
}

fn failure_value(failure: &Failure) -> Value {
    json!({ "kind": failure.kind.as_str(), "message": failure.message })
}
