//! The report of a run.

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::Scheduler;
use crate::plan::Plan;
use crate::report::{RunState, TaskReport, TaskState, Times, WorkflowReport};

/// The nodes that nothing waits for: what a plan without `output` gives.
fn last_nodes(plan: &Plan) -> Vec<usize> {
    let graph = plan.graph();
    let is_last = |node: &usize| {
        let is_fallback = |after: &usize| graph.fallback_of(*after) == Some(*node);
        graph.fallback_of(*node).is_none() && graph.after(*node).iter().all(is_fallback)
    };
    (0..plan.nodes()).filter(is_last).collect()
}

/// Which outputs the result contains.
pub fn kept(plan: &Plan) -> Vec<bool> {
    let mut kept = vec![false; plan.nodes()];
    match &plan.output {
        Some(output) => output.references(&mut |reference| {
            if let Some(node) = reference.node() {
                kept[node] = true;
            }
        }),
        None => last_nodes(plan)
            .into_iter()
            .for_each(|node| kept[node] = true),
    }
    kept
}

impl Scheduler<'_> {
    pub(super) fn report(mut self) -> WorkflowReport {
        let wall_ms = millis(self.started.elapsed());
        let (output, output_error) = self.output();
        let mut tasks: Vec<TaskReport> = (0..self.plan.tasks.len())
            .map(|node| self.task_report(node))
            .collect();
        if let Some(error) = output_error {
            self.has_failed = true;
            // The plan's `output` is no task: its mistake is that of the last one.
            if let Some(last) = tasks.last_mut() {
                last.error.get_or_insert(error);
            }
        }
        let done = tasks
            .iter()
            .filter(|task| task.state == TaskState::Done)
            .count();
        let state = match (self.stopped.is_some(), self.has_failed) {
            (true, _) => RunState::Stopped,
            (false, false) => RunState::Done,
            (false, true) if done > 0 => RunState::Partial,
            (false, true) => RunState::Failed,
        };
        WorkflowReport {
            ok: state == RunState::Done,
            state,
            output,
            times: self.times(wall_ms),
            stopped: self.stopped,
            tasks,
        }
    }

    fn output(&self) -> (Value, Option<pml_protocol::Failure>) {
        let value = |node: usize| {
            let output = self.outputs[node].as_deref();
            output.cloned().unwrap_or_default()
        };
        if let Some(output) = &self.plan.output {
            return match output.resolve(&self.scope(None)) {
                Ok(value) => (value, None),
                Err(error) => {
                    let kind = pml_protocol::FailureKind::Arguments;
                    let message = format!("the plan's output: {error}");
                    (Value::Null, Some(pml_protocol::Failure::new(kind, message)))
                }
            };
        }
        let value = match last_nodes(self.plan).as_slice() {
            [only] => value(*only),
            nodes => {
                let field = |node: &usize| (self.plan.name_of(*node).to_owned(), value(*node));
                Value::Object(nodes.iter().map(field).collect::<Map<_, _>>())
            }
        };
        (value, None)
    }

    pub(super) fn task_report(&self, node: usize) -> TaskReport {
        let (task, state) = (&self.plan.tasks[node], &self.nodes[node]);
        let since = |moment: Instant| millis(moment.saturating_duration_since(self.started));
        TaskReport {
            id: task.id.clone(),
            state: state.state.unwrap_or(TaskState::Skipped),
            start_ms: state.start.map(since),
            ms: self.duration(node),
            attempts: state.attempts,
            items: state.items.as_ref().map(|items| {
                (
                    items.ended - items.failed,
                    items.ended.max(items.list.len()),
                )
            }),
            fallback: state.used_fallback,
            optional: task.optional,
            error: state.error.clone(),
        }
    }

    fn duration(&self, node: usize) -> f64 {
        let node = &self.nodes[node];
        match (node.start, node.end) {
            (Some(start), Some(end)) => millis(end.saturating_duration_since(start)),
            _ => 0.0,
        }
    }

    /// The longest chain by the time that each task took.
    fn times(&self, wall_ms: f64) -> Times {
        let graph = self.plan.graph();
        let mut order: Vec<usize> = (0..graph.nodes()).collect();
        order.sort_by_key(|node| graph.level(*node));
        let mut until = vec![0.0_f64; graph.nodes()];
        let mut previous = vec![None; graph.nodes()];
        for &node in &order {
            for edge in graph.before(node) {
                if until[edge.node] > until[node] {
                    until[node] = until[edge.node];
                    previous[node] = Some(edge.node);
                }
            }
            until[node] += self.duration(node);
        }
        let last = (0..graph.nodes()).max_by(|a, b| until[*a].total_cmp(&until[*b]));
        let mut critical_path = Vec::new();
        let mut node = last;
        while let Some(at) = node {
            if at < self.plan.tasks.len() && self.nodes[at].start.is_some() {
                critical_path.push(self.plan.tasks[at].id.clone());
            }
            node = previous[at];
        }
        critical_path.reverse();
        let sequential_ms = millis(self.nodes.iter().map(|node| node.busy).sum());
        Times {
            wall_ms,
            sequential_ms,
            critical_path_ms: last.map_or(0.0, |last| until[last]),
            critical_path,
            speedup: if wall_ms > 0.0 {
                sequential_ms / wall_ms
            } else {
                1.0
            },
        }
    }
}

/// Milliseconds with three digits behind the point.
fn millis(time: std::time::Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
