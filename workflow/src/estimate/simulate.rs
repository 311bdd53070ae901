//! One simulated run of a plan: an event loop over steps that end, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Forecast, SharedLimit, StepForecast};
use crate::plan::Plan;

/// How long steps take.
pub enum Times {
    /// Each its median.
    Median,
    /// Drawn from the distribution of each, from a seed.
    Drawn(u64),
}

impl Times {
    pub fn drawn(run: u64) -> Self {
        Self::Drawn(run.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn of(&mut self, step: &StepForecast) -> f64 {
        match self {
            Self::Median => step.median_ms,
            Self::Drawn(seed) => step.median_ms * (step.spread * normal(seed)).exp(),
        }
    }
}

/// A normally distributed number: the sum of twelve that are uniform.
fn normal(seed: &mut u64) -> f64 {
    let mut sum = -6.0;
    for _ in 0..12 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        sum += (*seed >> 11) as f64 / (1_u64 << 53) as f64;
    }
    sum
}

/// A moment that can be ordered.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moment(f64);

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// What a simulated run shows.
pub struct Simulated {
    pub ms: f64,
    /// Calls that each limit refuses.
    pub refused: Vec<usize>,
}

pub struct Simulation<'a> {
    plan: &'a Plan,
    forecast: &'a Forecast,
    steps: &'a [StepForecast],
    /// The pool of the plan that each task takes slots of.
    pools: Vec<Option<usize>>,
}

/// A limit in one run.
enum Limit {
    /// When each slot is free again.
    Slots(BinaryHeap<Reverse<Moment>>),
    Rate {
        per_ms: f64,
        burst: f64,
        tokens: f64,
        filled: f64,
    },
}

struct Run<'a> {
    of: &'a Simulation<'a>,
    limits: Vec<Limit>,
    pools: Vec<Limit>,
    waiting: Vec<usize>,
    /// Steps of each task that did not start, and those that did not end.
    left: Vec<(usize, usize)>,
    is_done: Vec<bool>,
    ready: BinaryHeap<(i64, usize, Reverse<usize>)>,
    ends: BinaryHeap<Reverse<(Moment, usize)>>,
    refused: Vec<usize>,
    now: f64,
}

impl<'a> Simulation<'a> {
    pub fn new(plan: &'a Plan, forecast: &'a Forecast, steps: &'a [StepForecast]) -> Self {
        let pool_of = |tool: &str| {
            let fits = |(glob, _): &(String, usize)| crate::scheduler::glob_matches(glob, tool);
            plan.pools.iter().position(fits)
        };
        let tools = plan.tasks.iter().map(|task| task.tool());
        Self {
            pools: tools
                .map(|tool| pool_of(tool.unwrap_or("pml:execute_code")))
                .collect(),
            plan,
            forecast,
            steps,
        }
    }

    /// Runs the plan, without one of the limits if that is asked.
    pub fn run(&self, mut times: Times, without: Option<usize>) -> Simulated {
        let mut run = Run::new(self, without);
        for node in 0..self.plan.nodes() {
            run.look_at(node);
        }
        loop {
            run.fill(&mut times);
            let Some(Reverse((Moment(at), node))) = run.ends.pop() else {
                break;
            };
            run.now = at;
            run.left[node].1 -= 1;
            if run.left[node].1 == 0 {
                run.end(node);
            } else if run.left[node].0 > 0 {
                run.queue(node);
            }
        }
        Simulated {
            ms: run.now,
            refused: run.refused,
        }
    }
}

impl<'a> Run<'a> {
    fn new(of: &'a Simulation<'a>, without: Option<usize>) -> Self {
        let graph = of.plan.graph();
        let slots = |count: usize| Limit::Slots((0..count).map(|_| Reverse(Moment(0.0))).collect());
        let limits = of.forecast.limits.iter().enumerate();
        Self {
            limits: limits
                .map(|(index, limit)| match limit {
                    _ if without == Some(index) => slots(0),
                    SharedLimit::Slots { slots: count, .. } => slots(*count),
                    SharedLimit::Rate {
                        per_second, burst, ..
                    } => Limit::Rate {
                        per_ms: per_second / 1e3,
                        burst: *burst,
                        tokens: *burst,
                        filled: 0.0,
                    },
                })
                .collect(),
            pools: of
                .plan
                .pools
                .iter()
                .map(|(_, count)| slots(*count))
                .collect(),
            waiting: (0..graph.nodes())
                .map(|node| graph.before(node).len())
                .collect(),
            left: of
                .steps
                .iter()
                .map(|step| (step.count, step.count))
                .collect(),
            is_done: vec![false; graph.nodes()],
            ready: BinaryHeap::new(),
            ends: BinaryHeap::new(),
            refused: vec![0; of.forecast.limits.len()],
            now: 0.0,
            of,
        }
    }

    /// Queues a task that waits for nothing; what has no steps ends at once.
    fn look_at(&mut self, node: usize) {
        if self.waiting[node] > 0 || self.is_done[node] {
            return;
        }
        match self.left.get(node) {
            Some((0, 0)) => self.end(node),
            Some(_) => self.queue(node),
            None => {}
        }
    }

    fn queue(&mut self, node: usize) {
        let (priority, rank) = (
            self.of.plan.tasks[node].priority,
            self.of.plan.graph().rank(node),
        );
        self.ready.push((priority, rank, Reverse(node)));
    }

    fn end(&mut self, first: usize) {
        let (plan, graph) = (self.of.plan, self.of.plan.graph());
        let mut ended = vec![first];
        while let Some(node) = ended.pop() {
            if std::mem::replace(&mut self.is_done[node], true) {
                continue;
            }
            for &after in graph.after(node) {
                self.waiting[after] = self.waiting[after].saturating_sub(1);
                let is_race = after >= plan.tasks.len();
                // The first member of a race ends it.
                if is_race || (self.waiting[after] == 0 && self.left[after] == (0, 0)) {
                    ended.push(after);
                } else if self.waiting[after] == 0 {
                    self.queue(after);
                }
            }
        }
    }

    fn fill(&mut self, times: &mut Times) {
        while self.ends.len() < self.of.forecast.concurrency.max(1) {
            let Some((_, _, Reverse(node))) = self.ready.pop() else {
                return;
            };
            if self.left[node].0 == 0 {
                continue;
            }
            self.left[node].0 -= 1;
            let end = self.start(node, times);
            self.ends.push(Reverse((Moment(end), node)));
            let at_once = self.of.plan.tasks[node].concurrency.unwrap_or(usize::MAX);
            let (left, open) = self.left[node];
            if left > 0 && open - left < at_once {
                self.queue(node);
            }
        }
    }

    /// When a step ends that is started now.
    fn start(&mut self, node: usize, times: &mut Times) -> f64 {
        let step = &self.of.steps[node];
        let mut at = self.now;
        let mut taken: Vec<&mut BinaryHeap<Reverse<Moment>>> = Vec::new();
        let pool = self.of.pools[node].map(|pool| &mut self.pools[pool]);
        let own = self.limits.iter_mut().enumerate();
        let own = own.filter(|(index, _)| step.limits.contains(index));
        let all = pool.map(|pool| (usize::MAX, pool)).into_iter().chain(own);
        for (index, limit) in all {
            match limit {
                Limit::Slots(free) => {
                    if let Some(Reverse(Moment(moment))) = free.pop() {
                        at = at.max(moment);
                        taken.push(free);
                    }
                }
                Limit::Rate {
                    per_ms,
                    burst,
                    tokens,
                    filled,
                } => {
                    *tokens = (*tokens + (at - *filled).max(0.0) * *per_ms).min(*burst);
                    *filled = filled.max(at);
                    let wait = ((1.0 - *tokens) / *per_ms).max(0.0);
                    if wait > self.of.forecast.max_wait_ms {
                        self.refused[index] += 1;
                        for free in taken {
                            free.push(Reverse(Moment(at)));
                        }
                        return at;
                    }
                    *tokens -= 1.0;
                    at += wait;
                }
            }
        }
        let end = at + times.of(step);
        for free in taken {
            free.push(Reverse(Moment(end)));
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Confidence, ToolForecast, estimate};
    use super::*;
    use crate::tests::fake::{Fake, plan, run_plan};

    fn forecast(limits: Vec<SharedLimit>) -> Forecast {
        let tool = ToolForecast {
            calls: 50,
            median_ms: 100.0,
            spread: 0.0,
            bytes: 1_000.0,
            cost: Some(0.5),
            limits: (0..limits.len()).collect(),
            ..ToolForecast::default()
        };
        Forecast {
            tools: [("work:do".to_owned(), tool)].into(),
            limits,
            max_wait_ms: 60_000.0,
            concurrency: 64,
        }
    }

    /// Eight tasks that wait for one.
    fn fan() -> serde_json::Value {
        let mut tasks = vec![json!({ "id": "a", "tool": "work:do" })];
        for n in 0..8 {
            tasks.push(json!({ "id": format!("b{n}"), "tool": "work:do", "depends_on": ["a"] }));
        }
        json!({ "tasks": tasks })
    }

    async fn estimated(forecast: &Forecast) -> super::super::Estimate {
        let report = run_plan(&Fake::new(), fan(), json!({})).await;
        estimate(&plan(fan()), forecast, &report)
    }

    #[tokio::test(start_paused = true)]
    async fn an_estimate_is_the_critical_path_of_known_tools() {
        let estimate = estimated(&forecast(Vec::new())).await;
        assert_eq!(estimate.time_ms.likely, 200.0);
        assert_eq!(estimate.sequential_ms, 900.0);
        assert_eq!((estimate.calls, estimate.bytes), (9, 9_000.0));
        assert_eq!(estimate.cost, Some(4.5));
        assert_eq!(estimate.confidence, Confidence::High);
        assert!(estimate.slowed.is_empty() && estimate.refused.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn slots_and_rates_slow_a_plan_and_are_named() {
        let slots = SharedLimit::Slots {
            name: "server `work`".to_owned(),
            slots: 2,
        };
        let estimate_slots = estimated(&forecast(vec![slots])).await;
        assert_eq!(estimate_slots.time_ms.likely, 500.0);
        assert_eq!(estimate_slots.slowed[0].ms, 300.0);
        let rate = SharedLimit::Rate {
            name: "tools `work:*`".to_owned(),
            per_second: 10.0,
            burst: 1.0,
        };
        let estimate_rate = estimated(&forecast(vec![rate.clone()])).await;
        assert_eq!(estimate_rate.time_ms.likely, 900.0);
        let mut strict = forecast(vec![rate]);
        strict.max_wait_ms = 250.0;
        let refused = estimated(&strict).await.refused;
        assert!(refused[0].starts_with("5 calls would wait"), "{refused:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_known_is_said() {
        let estimate = estimated(&Forecast {
            concurrency: 64,
            ..Forecast::default()
        });
        let estimate = estimate.await;
        assert_eq!(estimate.confidence, Confidence::Low);
        assert!(estimate.doubts[0].contains("never called"));
        assert!(estimate.time_ms.low < estimate.time_ms.high);
    }
}
