//! Runs a plan.
//!
//! One event loop holds the state; the steps of tasks are futures of [`TaskRunner`]. A task is started as
//! soon as everything it waits for has ended and a slot is free: there is no barrier between layers.
//! At most `concurrency` steps exist at once, and the items of `for_each` become steps one by one, so
//! the memory of a plan of thousands of tasks is that of its results.

mod attempt;
mod end;
mod node;
mod pools;
mod start;
mod summary;

use std::collections::BinaryHeap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::FuturesUnordered;
use pml_protocol::{Failure, FailureKind};
use serde_json::Value;
use tokio::time::Instant;

use crate::limits::PlanLimits;
use crate::plan::{Fallback, OnError, Plan};
use crate::report::{TaskState, WorkflowReport};
use crate::runner::TaskRunner;
use attempt::StepEnd;
use node::{Node, ReadyFallback, ReadyTask, StepId, StepKind};
use pools::Pools;
pub(crate) use pools::matches as glob_matches;

/// What a run needs besides the plan.
pub struct RunOptions<'a> {
    /// `$INPUT`: an object. The plan's own `input` fills what is missing.
    pub input: Value,
    /// The bounds of lists and of concurrency.
    pub limits: PlanLimits,
    /// The time of a call of each tool, as far as it is known from earlier runs: for the deadline.
    pub known: std::collections::HashMap<String, Duration>,
    /// Resolves when the run must stop, with the reason: an interrupt, or all steps wait for a person.
    pub stop: Pin<Box<dyn Future<Output = String> + Send + 'a>>,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self {
            input: Value::Object(serde_json::Map::new()),
            limits: PlanLimits::default(),
            known: std::collections::HashMap::new(),
            stop: Box::pin(std::future::pending()),
        }
    }
}

/// Runs a plan to its end. Every failure is part of the report.
///
/// # Cancel safety
///
/// Dropping the future cancels every step.
pub async fn run(plan: &Plan, runner: &dyn TaskRunner, options: RunOptions<'_>) -> WorkflowReport {
    let mut scheduler = Scheduler::new(plan, runner, &options);
    scheduler.begin();
    let mut stop = options.stop;
    let deadline = plan.deadline.map(|time| scheduler.started + time);
    let mut at_deadline = std::pin::pin!(async move {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    });
    loop {
        scheduler.fill();
        if scheduler.in_flight == 0 && scheduler.asking == 0 {
            break;
        }
        tokio::select! {
            biased;
            step = scheduler.steps.next() => {
                if let Some(Ok(end)) = step {
                    scheduler.step_ended(end);
                }
            }
            reason = &mut stop => {
                scheduler.stop_all(&reason).await;
                scheduler.stopped = Some(reason);
                break;
            }
            () = &mut at_deadline => {
                let time = plan.deadline.unwrap_or_default();
                scheduler.stop_all(&format!("the deadline of {time:?} is over")).await;
                break;
            }
        }
        if scheduler.has_failed && plan.on_error == OnError::Stop {
            scheduler
                .stop_all("another task failed, and `on_error` is `stop`")
                .await;
            break;
        }
        scheduler.settle_cancelled().await;
    }
    scheduler.report()
}

type StepFuture<'a> = Abortable<Pin<Box<dyn Future<Output = StepEnd> + Send + 'a>>>;

struct Scheduler<'a> {
    plan: &'a Plan,
    runner: &'a dyn TaskRunner,
    input: Value,
    limits: PlanLimits,
    concurrency: usize,
    started: Instant,
    nodes: Vec<Node>,
    outputs: Vec<Option<Arc<Value>>>,
    errors: Vec<Option<Arc<Value>>>,
    /// Outputs that the result contains.
    kept: Vec<bool>,
    /// How many nodes still need the output of each.
    consumers: Vec<usize>,
    ready: BinaryHeap<ReadyTask>,
    pools: Pools,
    steps: FuturesUnordered<StepFuture<'a>>,
    /// Steps that hold one of the slots of `concurrency`.
    in_flight: usize,
    /// Questions to a person, which hold none.
    asking: usize,
    /// Nodes whose dependencies have ended, to be looked at.
    unlocked: Vec<usize>,
    /// Tasks of which steps were cancelled, with their tools: what they did may be unknown.
    cancelled: Vec<(usize, Vec<&'a str>)>,
    /// A task that must not fail has failed.
    has_failed: bool,
    ended_tasks: usize,
    /// The next task to report, if reports come in the order of the plan.
    next_report: usize,
    stopped: Option<String>,
    /// The mean time of a step of each tool, for the deadline.
    means: std::collections::HashMap<&'a str, (u32, Duration)>,
    /// The same, from earlier runs.
    known: std::collections::HashMap<String, Duration>,
}

impl<'a> Scheduler<'a> {
    fn new(plan: &'a Plan, runner: &'a dyn TaskRunner, options: &RunOptions<'_>) -> Self {
        let graph = plan.graph();
        let nodes = graph.nodes();
        let mut input = plan.input.clone();
        if let Value::Object(given) = &options.input {
            input.extend(
                given
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
        }
        let asked = plan.concurrency.unwrap_or(options.limits.concurrency);
        Self {
            kept: summary::kept(plan),
            consumers: (0..nodes).map(|node| graph.after(node).len()).collect(),
            nodes: (0..nodes)
                .map(|node| Node::new(graph.before(node).len()))
                .collect(),
            outputs: vec![None; nodes],
            errors: vec![None; nodes],
            input: Value::Object(input),
            limits: options.limits,
            concurrency: asked.min(options.limits.concurrency).max(1),
            started: Instant::now(),
            ready: BinaryHeap::new(),
            pools: Pools::new(plan),
            steps: FuturesUnordered::new(),
            in_flight: 0,
            asking: 0,
            unlocked: Vec::new(),
            cancelled: Vec::new(),
            has_failed: false,
            ended_tasks: 0,
            next_report: 0,
            stopped: None,
            means: std::collections::HashMap::new(),
            known: options.known.clone(),
            plan,
            runner,
        }
    }

    /// Looks at the tasks that wait for nothing.
    fn begin(&mut self) {
        self.unlocked = (0..self.nodes.len())
            .filter(|node| self.nodes[*node].waiting == 0)
            .collect();
        self.look_at_unlocked();
    }

    /// Starts what is ready, up to the limits.
    fn fill(&mut self) {
        while self.in_flight < self.concurrency {
            let Some(ready) = self.ready.pop() else {
                return;
            };
            let (node, step) = (ready.node, ready.step());
            if ready.fallback.is_none() {
                self.nodes[node].is_queued = false;
            }
            if self.nodes[node].state.is_some() {
                self.ready.extend(self.pools.pass_on(step));
                continue;
            }
            if ready.fallback.is_none() && self.needs_approval(node) {
                self.ask(node);
                self.look_at_unlocked();
                continue;
            }
            if let Some(pool) = self.pools.take(step) {
                if ready.fallback.is_none() {
                    self.nodes[node].is_queued = true;
                }
                self.pools.park(pool, ready);
                continue;
            }
            match ready.fallback {
                Some(ReadyFallback { id, failure }) => {
                    self.errors[node] = Some(failure);
                    self.start(id);
                }
                None => self.start_step(node),
            }
            self.look_at_unlocked();
        }
    }

    /// Queues a task that has a step to start.
    fn queue(&mut self, node: usize) {
        if std::mem::replace(&mut self.nodes[node].is_queued, true) {
            return;
        }
        self.ready.push(ReadyTask {
            priority: self.plan.tasks[node].priority,
            rank: self.plan.graph().rank(node),
            node,
            fallback: None,
        });
    }

    /// Queues the fallback of a step that failed.
    fn queue_fallback(&mut self, id: StepId, failure: Value) {
        self.ready.push(ReadyTask {
            priority: self.plan.tasks[id.node].priority,
            rank: self.plan.graph().rank(id.node),
            node: id.node,
            fallback: Some(ReadyFallback {
                id: StepId {
                    kind: StepKind::Fallback,
                    ..id
                },
                failure: Arc::new(failure),
            }),
        });
    }

    /// Adds a step.
    fn spawn(&mut self, id: StepId, step: impl Future<Output = StepEnd> + Send + 'a) {
        let (handle, registration) = AbortHandle::new_pair();
        let node = &mut self.nodes[id.node];
        node.running.push((id, handle));
        match id.kind {
            StepKind::Approval => self.asking += 1,
            StepKind::Task | StepKind::Fallback => {
                node.start.get_or_insert_with(Instant::now);
                self.in_flight += 1;
            }
        }
        self.steps
            .push(Abortable::new(Box::pin(step), registration));
    }

    /// Gives the slot of a step back. `false` if the step was cancelled before.
    fn release(&mut self, id: StepId) -> bool {
        let running = &mut self.nodes[id.node].running;
        let Some(at) = running.iter().position(|(known, _)| *known == id) else {
            return false;
        };
        running.swap_remove(at);
        self.give_back(id);
        true
    }

    fn give_back(&mut self, id: StepId) {
        match id.kind {
            StepKind::Approval => self.asking -= 1,
            StepKind::Task | StepKind::Fallback => self.in_flight -= 1,
        }
        self.ready.extend(self.pools.give(id));
    }

    /// Cancels the steps of a task. Returns whether there were any.
    fn cancel_steps(&mut self, node: usize) -> bool {
        let running = std::mem::take(&mut self.nodes[node].running);
        // A question to a person has no effect.
        if running.iter().any(|(id, _)| id.kind != StepKind::Approval) {
            let tools = running.iter().filter_map(|(id, _)| self.tool_of(*id));
            let tools = tools.collect();
            self.cancelled.push((node, tools));
        }
        for (id, handle) in &running {
            handle.abort();
            self.give_back(*id);
        }
        !running.is_empty()
    }

    /// The tool that a step calls.
    fn tool_of(&self, id: StepId) -> Option<&'a str> {
        let task = &self.plan.tasks[id.node];
        match (id.kind, &task.fallback) {
            (StepKind::Task, _) => task.tool(),
            (StepKind::Fallback, Some(Fallback::Task(other))) => self.plan.tasks[*other].tool(),
            (StepKind::Fallback, Some(Fallback::Inline(inline))) => inline.tool(),
            (StepKind::Fallback, None) | (StepKind::Approval, _) => None,
        }
    }

    /// Ends everything that has not ended.
    async fn stop_all(&mut self, reason: &str) {
        for node in 0..self.plan.tasks.len() {
            if self.nodes[node].state.is_some() {
                continue;
            }
            let failure = Failure::new(FailureKind::Cancelled, reason);
            match self.cancel_steps(node) || self.nodes[node].start.is_some() {
                true => self.set_ended(node, TaskState::Cancelled, None, Some(failure)),
                false => self.set_ended(node, TaskState::Skipped, None, Some(failure)),
            }
            if !self.plan.tasks[node].optional {
                self.has_failed = true;
            }
        }
        self.settle_cancelled().await;
    }

    /// A cancelled call with an effect may have happened. The tasks are reported when that is known.
    async fn settle_cancelled(&mut self) {
        while let Some((node, tools)) = self.cancelled.first() {
            let (node, tools) = (*node, tools.clone());
            // Of a list, other items may be in flight when one fails.
            let state = self.nodes[node].state;
            let is_cut_off = matches!(state, Some(TaskState::Cancelled | TaskState::Failed));
            if is_cut_off && may_have_happened(self.runner, &tools).await {
                let node = &mut self.nodes[node];
                node.state = Some(TaskState::Unknown);
                if let Some(error) = &mut node.error {
                    error
                        .message
                        .push_str("; its call may have been sent, and may have happened");
                }
            }
            self.cancelled.remove(0);
            self.emit(node);
        }
    }

    /// Whether it is not known yet what the cancelled calls of a task did.
    fn is_settling(&self, node: usize) -> bool {
        self.cancelled
            .iter()
            .any(|(cancelled, _)| *cancelled == node)
    }
}

/// Whether one of these tools has an effect.
async fn may_have_happened(runner: &dyn TaskRunner, tools: &[&str]) -> bool {
    for tool in tools {
        if runner.effect(tool).await.needs_intent() {
            return true;
        }
    }
    false
}
