//! The state of one node of the graph.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::AbortHandle;
use pml_protocol::Failure;
use serde_json::Value;
use tokio::time::Instant;

use crate::report::TaskState;

/// A task or a race.
pub struct Node {
    /// How many nodes it still waits for.
    pub waiting: usize,
    /// How it ended.
    pub state: Option<TaskState>,
    /// It was skipped although nothing is wrong: its output is null for others.
    pub is_not_needed: bool,
    /// It was skipped because of a failure.
    pub is_blocked: bool,
    pub start: Option<Instant>,
    pub end: Option<Instant>,
    /// The time of all its steps.
    pub busy: Duration,
    pub attempts: u32,
    pub items: Option<Items>,
    pub error: Option<Failure>,
    pub used_fallback: bool,
    pub is_approved: bool,
    /// Whether it is in the queue of ready tasks.
    pub is_queued: bool,
    /// Its steps in flight.
    pub running: Vec<(StepId, AbortHandle)>,
}

/// One step of a task: the whole, or one item; the task itself, or its fallback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StepId {
    pub node: usize,
    pub item: Option<usize>,
    pub kind: StepKind,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepKind {
    #[default]
    Task,
    Fallback,
    Approval,
}

/// The items of `for_each`.
pub struct Items {
    pub list: Vec<Value>,
    pub next: usize,
    pub results: Vec<Value>,
    pub ended: usize,
    pub failed: usize,
}

impl Items {
    pub fn new(list: Vec<Value>) -> Self {
        Self {
            results: vec![Value::Null; list.len()],
            list,
            next: 0,
            ended: 0,
            failed: 0,
        }
    }
}

impl Node {
    pub fn new(waiting: usize) -> Self {
        Self {
            waiting,
            state: None,
            is_not_needed: false,
            is_blocked: false,
            start: None,
            end: None,
            busy: Duration::ZERO,
            attempts: 0,
            items: None,
            error: None,
            used_fallback: false,
            is_approved: false,
            is_queued: false,
            running: Vec::new(),
        }
    }
}

/// A task with a step to start. The greatest is started first: by priority, then by how much depends on
/// it, then in the order of the plan.
#[derive(Debug)]
pub struct ReadyTask {
    pub priority: i64,
    pub rank: usize,
    pub node: usize,
    /// The fallback of a step that failed; `None` for the next step of the task itself.
    pub fallback: Option<ReadyFallback>,
}

/// A fallback that is to start.
#[derive(Debug)]
pub struct ReadyFallback {
    pub id: StepId,
    /// The failure that it stands in for, as `$ERROR`.
    pub failure: Arc<Value>,
}

impl ReadyTask {
    /// The step that starts next.
    pub fn step(&self) -> StepId {
        match &self.fallback {
            Some(fallback) => fallback.id,
            None => StepId {
                node: self.node,
                ..StepId::default()
            },
        }
    }

    /// A fallback ends what has begun, so it is before other steps of the same rank.
    fn order(&self) -> (i64, usize, bool, Reverse<usize>, Reverse<Option<usize>>) {
        let item = self.fallback.as_ref().and_then(|fallback| fallback.id.item);
        (
            self.priority,
            self.rank,
            self.fallback.is_some(),
            Reverse(self.node),
            Reverse(item),
        )
    }
}

impl Ord for ReadyTask {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for ReadyTask {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ReadyTask {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for ReadyTask {}
