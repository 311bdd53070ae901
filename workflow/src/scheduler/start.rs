//! From "everything it waits for has ended" to a step in flight.

use std::collections::HashSet;

use pml_protocol::{Failure, FailureKind};
use serde_json::{Map, Value};

use super::Scheduler;
use super::attempt::{Step, StepEnd, execute};
use super::node::{Items, StepId, StepKind};
use crate::error::shown;
use crate::graph::Need;
use crate::plan::{Action, Fallback, Task};
use crate::reference::{Reference, Root, Scope};
use crate::report::TaskState;
use crate::runner::{ApprovalAsk, TaskEvent};

/// Whether a task may start.
enum Start {
    Now,
    Skip { reason: String, is_blocked: bool },
    Fail(Failure),
}

impl<'a> Scheduler<'a> {
    pub(super) fn scope<'b>(&'b self, item: Option<(&'b Value, usize)>) -> Scope<'b> {
        Scope {
            input: &self.input,
            outputs: &self.outputs,
            errors: &self.errors,
            item,
        }
    }

    /// Starts, skips or fails the tasks whose dependencies have ended. What that ends in turn is looked
    /// at as well, without recursion.
    pub(super) fn look_at_unlocked(&mut self) {
        while let Some(node) = self.unlocked.pop() {
            if self.nodes[node].state.is_some() || node >= self.plan.tasks.len() {
                continue;
            }
            if let Some(task) = self.plan.graph().fallback_of(node) {
                if self.nodes[task].used_fallback {
                    // It made items of the task's output, and has none of its own.
                    self.set_ended(node, TaskState::Done, None, None);
                    continue;
                }
                self.nodes[node].is_not_needed = true;
                let failure = cancelled("it is a fallback that was not needed");
                self.set_ended(node, TaskState::Skipped, None, Some(failure));
                continue;
            }
            match self.may_start(node) {
                Start::Now => self.begin_task(node),
                Start::Skip { reason, is_blocked } => {
                    self.nodes[node].is_blocked = is_blocked;
                    self.set_ended(node, TaskState::Skipped, None, Some(cancelled(&reason)));
                }
                Start::Fail(failure) => self.fail(node, failure, false),
            }
        }
    }

    fn may_start(&self, node: usize) -> Start {
        let plan = self.plan;
        for edge in plan.graph().before(node) {
            let before = &self.nodes[edge.node];
            let is_tolerated = plan
                .tasks
                .get(edge.node)
                .is_some_and(|task| task.optional || task.race.is_some())
                || edge.need == Need::End
                || before.is_not_needed;
            let name = shown(plan.name_of(edge.node));
            let reason = match before.state {
                Some(TaskState::Done) | None => continue,
                _ if is_tolerated => continue,
                Some(TaskState::Skipped) if !before.is_blocked => {
                    if edge.need != Need::Output {
                        continue;
                    }
                    format!("it needs the output of {name}, which was skipped")
                }
                Some(TaskState::Skipped) => format!("{name} was skipped"),
                Some(TaskState::Failed) => format!("{name} failed"),
                Some(TaskState::Cancelled) => format!("{name} was cancelled"),
                Some(TaskState::Unknown) => format!("the outcome of {name} is unknown"),
            };
            let is_blocked = before.is_blocked || before.state != Some(TaskState::Skipped);
            return Start::Skip { reason, is_blocked };
        }
        match plan.tasks[node]
            .when
            .as_ref()
            .map(|when| when.holds(&self.scope(None)))
        {
            None | Some(Ok(true)) => Start::Now,
            Some(Ok(false)) => Start::Skip {
                reason: "`when` does not hold".to_owned(),
                is_blocked: false,
            },
            Some(Err(error)) => Start::Fail(bad_reference(&error)),
        }
    }

    fn begin_task(&mut self, node: usize) {
        let Some(template) = &self.plan.tasks[node].for_each else {
            return self.queue(node);
        };
        let list = match template.resolve(&self.scope(None)) {
            Ok(Value::Array(list)) => list,
            Ok(_) => {
                let failure = Failure::new(FailureKind::Arguments, "`for_each` is not a list");
                return self.fail(node, failure, false);
            }
            Err(error) => return self.fail(node, bad_reference(&error), false),
        };
        if list.len() > self.limits.items {
            let message = format!(
                "`for_each` has {} items; the limit is {}",
                list.len(),
                self.limits.items
            );
            return self.fail(node, Failure::new(FailureKind::Arguments, message), false);
        }
        let is_empty = list.is_empty();
        self.nodes[node].items = Some(Items::new(list));
        match is_empty {
            true => self.set_ended(node, TaskState::Done, Some(Value::Array(Vec::new())), None),
            false => self.queue(node),
        }
    }

    /// Starts the next step of a task, which has a slot of its pool.
    pub(super) fn start_step(&mut self, node: usize) {
        let task = &self.plan.tasks[node];
        if let Some(reason) = self.too_late(task) {
            let step = StepId {
                node,
                ..StepId::default()
            };
            self.ready.extend(self.pools.give(step));
            // Of a list, some items may have run.
            let state = match self.nodes[node].start {
                Some(_) => TaskState::Cancelled,
                None => TaskState::Skipped,
            };
            self.cancel_steps(node);
            return self.set_ended(node, state, None, Some(cancelled(&reason)));
        }
        if self.nodes[node].start.is_none() {
            self.runner.event(TaskEvent::Started { task: &task.id });
        }
        let item = self.nodes[node].items.as_mut().map(|items| {
            items.next += 1;
            items.next - 1
        });
        self.start(StepId {
            node,
            item,
            kind: StepKind::Task,
        });
        if let Some(items) = &self.nodes[node].items {
            let at_once = task.concurrency.unwrap_or(usize::MAX);
            let has_more = items.next < items.list.len();
            if has_more
                && self.nodes[node].running.len() < at_once
                && self.nodes[node].state.is_none()
            {
                self.queue(node);
            }
        }
    }

    /// Whether a person is to be asked before the first step of a task.
    pub(super) fn needs_approval(&self, node: usize) -> bool {
        self.plan.tasks[node].approve.is_some() && !self.nodes[node].is_approved
    }

    /// Asks a person whether a task may start. The question holds neither a slot of the plan nor one of a pool.
    pub(super) fn ask(&mut self, node: usize) {
        let task = &self.plan.tasks[node];
        if let Some(reason) = self.too_late(task) {
            let failure = cancelled(&reason);
            return self.set_ended(node, TaskState::Skipped, None, Some(failure));
        }
        let ask = ApprovalAsk {
            task: &task.id,
            message: task
                .approve
                .as_ref()
                .and_then(|approve| approve.message.as_deref()),
            tool: task.tool(),
        };
        let (runner, id) = (
            self.runner,
            StepId {
                node,
                item: None,
                kind: StepKind::Approval,
            },
        );
        self.spawn(id, async move {
            StepEnd {
                id,
                result: runner.approve(ask).await.map(|()| Value::Null),
                is_unknown: false,
                attempts: 0,
                time: std::time::Duration::ZERO,
            }
        });
    }

    /// Resolves what a step needs and starts it. A reference to nothing is the failure of the step.
    pub(super) fn start(&mut self, id: StepId) {
        let owner = &self.plan.tasks[id.node];
        let (task, name) = match (id.kind, &owner.fallback) {
            (StepKind::Fallback, Some(Fallback::Task(other))) => {
                let other = &self.plan.tasks[*other];
                (other, &other.id)
            }
            (StepKind::Fallback, Some(Fallback::Inline(task))) => (&**task, &owner.id),
            _ => (owner, &owner.id),
        };
        let items = self.nodes[id.node].items.as_ref();
        let item = id
            .item
            .and_then(|index| Some((items?.list.get(index)?, index)));
        let values = self.values(task, item);
        let runner = self.runner;
        match values {
            Ok(values) => {
                let step = Step {
                    id,
                    task,
                    name,
                    values,
                    after: self.sources(id),
                };
                self.spawn(id, execute(runner, step));
            }
            Err(failure) => {
                let end = StepEnd {
                    id,
                    result: Err(failure),
                    is_unknown: false,
                    attempts: 0,
                    time: std::time::Duration::ZERO,
                };
                self.spawn(id, std::future::ready(end));
            }
        }
    }

    /// The tasks whose outputs and ends a step may depend on. One that did not run passes on what decided that.
    fn sources(&self, id: StepId) -> Vec<&'a str> {
        let plan = self.plan;
        let mut found = Vec::new();
        match id.kind {
            // A fallback depends on how its task failed.
            StepKind::Fallback => found.push(plan.tasks[id.node].id.as_str()),
            // Further items of a list depend on what the first one does.
            _ if self.nodes[id.node].start.is_some() => return found,
            _ => {}
        }
        let mut seen = HashSet::new();
        let mut open = vec![id.node];
        while let Some(node) = open.pop() {
            for edge in plan.graph().before(node) {
                if !seen.insert(edge.node) {
                    continue;
                }
                match plan.tasks.get(edge.node) {
                    Some(task) if self.nodes[edge.node].start.is_some() => found.push(&task.id),
                    _ => open.push(edge.node),
                }
            }
        }
        found
    }

    /// The arguments of a tool, or the globals of code.
    fn values(&self, task: &'a Task, item: Option<(&Value, usize)>) -> Result<Value, Failure> {
        let scope = self.scope(item);
        match &task.action {
            Action::Tool { args, .. } => {
                args.resolve(&scope).map_err(|error| bad_reference(&error))
            }
            Action::Code {
                context,
                references,
                ..
            } => {
                let context = context
                    .resolve(&scope)
                    .map_err(|error| bad_reference(&error))?;
                Ok(self.globals(task, references, context, item))
            }
        }
    }

    fn globals(
        &self,
        task: &Task,
        references: &[Reference],
        context: Value,
        item: Option<(&Value, usize)>,
    ) -> Value {
        let (mut outputs, mut errors, mut globals) = (Map::new(), Map::new(), Map::new());
        let mut add = |node: usize| {
            let value = |of: &[Option<std::sync::Arc<Value>>]| {
                of[node]
                    .as_ref()
                    .map_or(Value::Null, |value| (**value).clone())
            };
            let name = self.plan.name_of(node);
            if !outputs.contains_key(name) {
                outputs.insert(name.to_owned(), value(&self.outputs));
                errors.insert(name.to_owned(), value(&self.errors));
            }
        };
        for reference in references {
            reference.node().into_iter().for_each(&mut add);
        }
        task.depends_on.iter().copied().for_each(&mut add);
        for reference in references {
            // `$1`
            if let Root::Output(_) = reference.root
                && reference.text.bytes().all(|byte| byte.is_ascii_digit())
                && let Some(value) = outputs.get(&reference.text)
            {
                globals.insert(format!("${}", reference.text), value.clone());
            }
        }
        globals.insert("$INPUT".to_owned(), self.input.clone());
        globals.insert("$OUTPUT".to_owned(), Value::Object(outputs));
        globals.insert("$ERROR".to_owned(), Value::Object(errors));
        if let Some((item, index)) = item {
            globals.insert("$ITEM".to_owned(), item.clone());
            globals.insert("$INDEX".to_owned(), Value::from(index));
        }
        if !context.is_null() {
            globals.insert("context".to_owned(), context);
        }
        Value::Object(globals)
    }

    /// Why a step is not started: it would not end before the deadline, judged by earlier calls of its tool, or
    /// its priority is low and a quarter of the time is left.
    fn too_late(&self, task: &'a Task) -> Option<String> {
        let left = self.plan.deadline?.checked_sub(self.started.elapsed());
        let Some(left) = left else {
            return Some("the deadline is over".to_owned());
        };
        if task.priority < 0 && left < self.plan.deadline? / 4 {
            let reason = format!("its priority is low, and the deadline is in {left:.1?}");
            return Some(reason);
        }
        let tool = task.tool()?;
        let mean = self.means.get(tool).map(|(_, mean)| mean);
        let mean = mean.or_else(|| self.known.get(tool))?;
        (*mean > left)
            .then(|| format!("it takes about {mean:.1?}, and the deadline is in {left:.1?}"))
    }
}

pub(super) fn cancelled(reason: &str) -> Failure {
    Failure::new(FailureKind::Cancelled, reason)
}

fn bad_reference(error: &crate::reference::MissingPath) -> Failure {
    Failure::new(FailureKind::Arguments, error.to_string())
}
