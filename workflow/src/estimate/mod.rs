//! What a plan would take: time, calls, bytes and cost, from how earlier calls of its tools went.
//!
//! The plan is simulated many times, with times drawn from what is known of each tool, and with the limits
//! that the operator set: slots, rates, circuit breakers.

mod simulate;

use std::collections::HashMap;

use serde::Serialize;

use crate::plan::{Action, Plan};
use crate::report::WorkflowReport;
use simulate::{Simulation, Times};

/// What is known of calls of one tool.
#[derive(Debug, Clone, Default)]
pub struct ToolForecast {
    /// Earlier calls that the rest is drawn from.
    pub calls: u64,
    /// The share of calls that their server did not answer.
    pub unanswered: f64,
    /// Half of the calls took at most this.
    pub median_ms: f64,
    /// The standard deviation of the logarithm of the times.
    pub spread: f64,
    /// The mean size of a result.
    pub bytes: f64,
    /// What one call costs, in a unit of the operator's.
    pub cost: Option<f64>,
    /// The limits that the tool shares: indices into [`Forecast::limits`].
    pub limits: Vec<usize>,
    /// Why calls would be refused now, or soon: a circuit breaker.
    pub refused: Option<String>,
}

/// A limit that several tools share.
#[derive(Debug, Clone, PartialEq)]
pub enum SharedLimit {
    /// Calls at once.
    Slots {
        /// What has the limit, for messages.
        name: String,
        /// How many.
        slots: usize,
    },
    /// Calls in a time.
    Rate {
        /// What has the limit, for messages.
        name: String,
        /// How many in a second.
        per_second: f64,
        /// How many at once.
        burst: f64,
    },
}

impl SharedLimit {
    fn name(&self) -> &str {
        match self {
            Self::Slots { name, .. } | Self::Rate { name, .. } => name,
        }
    }
}

/// Everything that an estimate is made from, besides the plan.
#[derive(Debug, Clone, Default)]
pub struct Forecast {
    /// By tool id.
    pub tools: HashMap<String, ToolForecast>,
    /// Limits of the operator.
    pub limits: Vec<SharedLimit>,
    /// The longest that a call waits for its rate; a longer wait is a refusal.
    pub max_wait_ms: f64,
    /// Steps at once.
    pub concurrency: usize,
}

/// From the lowest tenth to the highest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Range {
    /// One run of ten takes less.
    pub low: f64,
    /// Half of the runs take less.
    pub likely: f64,
    /// One run of ten takes more.
    pub high: f64,
}

/// How far an estimate can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Hardly anything is known.
    Low,
    /// Some of the tools are known.
    Medium,
    /// Nearly all calls are of tools whose times are known.
    High,
}

/// What one tool contributes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolEstimate {
    /// `server:tool`
    pub tool: String,
    /// Calls in the plan.
    pub calls: usize,
    /// The time of one.
    pub median_ms: f64,
    /// Earlier calls that this is known from.
    pub known: u64,
}

/// A limit that would slow the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Slowdown {
    /// What has the limit.
    pub by: String,
    /// How much longer the plan takes.
    pub ms: f64,
}

/// What a plan would take.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// The time of the plan, in milliseconds.
    pub time_ms: Range,
    /// One step after another.
    pub sequential_ms: f64,
    /// Calls of tools.
    pub calls: usize,
    /// Bytes of their results.
    pub bytes: f64,
    /// What the calls cost, where the operator says what one costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// How far this can be trusted.
    pub confidence: Confidence,
    /// Why it is not higher.
    pub doubts: Vec<String>,
    /// Limits that slow the plan, the worst first.
    pub slowed: Vec<Slowdown>,
    /// Calls that would be refused.
    pub refused: Vec<String>,
    /// By tool, the largest share of time first.
    pub tools: Vec<ToolEstimate>,
}

/// Earlier calls of a tool that are enough to know it.
const ENOUGH: u64 = 10;
/// What is assumed of a tool that was never called.
const UNKNOWN_MS: f64 = 100.0;
/// From a tenth of the median to ten times it.
const UNKNOWN_SPREAD: f64 = 1.15;
/// Code varies less.
const CODE_SPREAD: f64 = 0.3;
/// Steps that all simulations together make.
const STEPS: usize = 400_000;

/// One kind of step: how often it happens, and how long it takes.
pub(crate) struct StepForecast {
    count: usize,
    median_ms: f64,
    spread: f64,
    limits: Vec<usize>,
}

/// Estimates a plan. `dry_run` is the report of a run whose calls were not sent: it knows how many items
/// lists had, and what code took.
pub fn estimate(plan: &Plan, forecast: &Forecast, dry_run: &WorkflowReport) -> Estimate {
    let steps = steps_of(plan, forecast, dry_run);
    let simulation = Simulation::new(plan, forecast, &steps);
    let count: usize = steps.iter().map(|step| step.count).sum();
    let runs = (STEPS / count.max(1)).clamp(5, 200);
    let mut times: Vec<f64> = (0..runs)
        .map(|run| simulation.run(Times::drawn(run as u64), None).ms)
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    let likely = simulation.run(Times::Median, None);
    let tools = by_tool(plan, forecast, &steps);
    let known = |tool: &&ToolEstimate| tool.known >= ENOUGH;
    let calls: usize = tools.iter().map(|tool| tool.calls).sum();
    let known_calls: usize = tools.iter().filter(known).map(|tool| tool.calls).sum();
    let doubts = doubts(plan, &tools, dry_run);
    let of = |tool: &ToolEstimate| forecast.tools.get(&tool.tool);
    let costs = || {
        tools
            .iter()
            .filter_map(|tool| Some(of(tool)?.cost? * tool.calls as f64))
    };
    Estimate {
        time_ms: Range {
            low: rounded(at(0.1)),
            likely: rounded(at(0.5)),
            high: rounded(at(0.9)),
        },
        sequential_ms: rounded(
            steps
                .iter()
                .map(|step| step.count as f64 * step.median_ms)
                .sum(),
        ),
        calls,
        bytes: tools
            .iter()
            .filter_map(|tool| Some(of(tool)?.bytes * tool.calls as f64))
            .sum::<f64>()
            .round(),
        cost: costs().next().is_some().then(|| costs().sum()),
        confidence: match (doubts.is_empty(), known_calls * 2 >= calls) {
            (true, _) => Confidence::High,
            (false, true) => Confidence::Medium,
            (false, false) => Confidence::Low,
        },
        doubts,
        slowed: slowed(&simulation, forecast, likely.ms),
        refused: refused(forecast, &tools, likely.refused),
        tools,
    }
}

fn steps_of(plan: &Plan, forecast: &Forecast, dry_run: &WorkflowReport) -> Vec<StepForecast> {
    let step = |(index, task): (usize, &crate::plan::Task)| {
        let report = dry_run.tasks.get(index);
        let items = report.and_then(|report| report.items);
        let count = match (&task.for_each, items) {
            (Some(_), Some((_, all))) => all,
            _ => 1,
        };
        let is_fallback = plan.graph().fallback_of(index).is_some();
        let count = if is_fallback { 0 } else { count };
        match &task.action {
            Action::Tool { tool, .. } => {
                let (id, _) = pml_protocol::split_version(tool);
                let known = forecast.tools.get(id);
                let timed = known.filter(|known| known.calls > 0);
                StepForecast {
                    count,
                    median_ms: timed.map_or(UNKNOWN_MS, |known| known.median_ms),
                    spread: timed.map_or(UNKNOWN_SPREAD, |known| known.spread),
                    limits: known.map_or_else(Vec::new, |known| known.limits.clone()),
                }
            }
            Action::Code { .. } => StepForecast {
                count,
                median_ms: report.map_or(1.0, |report| report.ms / count.max(1) as f64),
                spread: CODE_SPREAD,
                limits: Vec::new(),
            },
        }
    };
    plan.tasks.iter().enumerate().map(step).collect()
}

fn by_tool(plan: &Plan, forecast: &Forecast, steps: &[StepForecast]) -> Vec<ToolEstimate> {
    let mut tools: Vec<ToolEstimate> = Vec::new();
    for (task, step) in plan.tasks.iter().zip(steps) {
        let Some(tool) = task.tool() else { continue };
        let (id, _) = pml_protocol::split_version(tool);
        match tools.iter_mut().find(|known| known.tool == id) {
            Some(known) => known.calls += step.count,
            None => tools.push(ToolEstimate {
                tool: id.to_owned(),
                calls: step.count,
                median_ms: rounded(step.median_ms),
                known: forecast.tools.get(id).map_or(0, |known| known.calls),
            }),
        }
    }
    let share = |tool: &ToolEstimate| tool.calls as f64 * tool.median_ms;
    tools.sort_by(|a, b| share(b).total_cmp(&share(a)));
    tools
}

fn doubts(plan: &Plan, tools: &[ToolEstimate], dry_run: &WorkflowReport) -> Vec<String> {
    let mut doubts = Vec::new();
    for tool in tools {
        match tool.known {
            0 => doubts.push(format!(
                "`{}` was never called: {UNKNOWN_MS} ms are assumed",
                tool.tool
            )),
            known if known < ENOUGH => {
                doubts.push(format!("`{}` was called {known} times only", tool.tool));
            }
            _ => {}
        }
    }
    for (task, report) in plan.tasks.iter().zip(&dry_run.tasks) {
        let is_given = task.for_each.as_ref().is_some_and(|list| {
            let mut refers = false;
            list.references(&mut |reference| refers |= reference.node().is_some());
            !refers
        });
        if let (Some(_), false, Some((_, all))) = (&task.for_each, is_given, report.items) {
            doubts.push(format!(
                "the list of `{}` has {all} items with example answers",
                task.id
            ));
        }
        if task.when.is_some() {
            doubts.push(format!("`{}` runs only if its `when` holds", task.id));
        }
    }
    doubts
}

/// How much each limit costs: the time with it, without it.
fn slowed(simulation: &Simulation<'_>, forecast: &Forecast, likely: f64) -> Vec<Slowdown> {
    let without = |(index, limit): (usize, &SharedLimit)| Slowdown {
        by: limit.name().to_owned(),
        ms: rounded(likely - simulation.run(Times::Median, Some(index)).ms),
    };
    let mut slowed: Vec<Slowdown> = forecast
        .limits
        .iter()
        .enumerate()
        .map(without)
        .filter(|slowdown| slowdown.ms > likely * 0.01)
        .collect();
    slowed.sort_by(|a, b| b.ms.total_cmp(&a.ms));
    slowed
}

fn refused(forecast: &Forecast, tools: &[ToolEstimate], by_rate: Vec<usize>) -> Vec<String> {
    let mut refused: Vec<String> = tools
        .iter()
        .filter_map(|tool| forecast.tools.get(&tool.tool)?.refused.clone())
        .collect();
    refused.sort_unstable();
    refused.dedup();
    for (limit, calls) in forecast.limits.iter().zip(by_rate) {
        if calls > 0 {
            refused.push(format!(
                "{calls} calls would wait longer for the rate of {} than {} ms, and be refused",
                limit.name(),
                forecast.max_wait_ms
            ));
        }
    }
    refused
}

fn rounded(ms: f64) -> f64 {
    (ms * 10.0).round() / 10.0
}
