//! How near the scheduler of `workflow/` comes to the critical path, and what a task costs.
//!
//! Tools are timers, so that the figures are those of the scheduler alone. Every ratio is of one run:
//!
//! ```sh
//! cargo run --release -p pml-bench --bin workflow
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use pml_hosts::StaticHost;
use pml_protocol::{EffectClass, Failure, Request, RunContext, ToolHost};
use pml_workflow::{
    ApprovalAsk, CodeTask, Plan, PlanLimits, RunOptions, TaskError, TaskFuture, TaskRunner,
    ToolTask, run,
};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

/// The rows of the table in the article about AgentCards: a name, and tasks with their milliseconds and
/// what they wait for.
fn rows() -> Vec<(&'static str, Vec<(u64, Vec<usize>)>)> {
    let chain = (0..5_usize).map(|n| (40, n.checked_sub(1).into_iter().collect()));
    let mut mixed: Vec<(u64, Vec<usize>)> = (0..5).map(|n| (40 + 10 * n, Vec::new())).collect();
    mixed.extend((0..4).map(|n| (60, vec![n, n + 1])));
    mixed.push((40, vec![5, 6, 7, 8]));
    let mut fan = vec![(40, Vec::new())];
    fan.extend((0..8).map(|_| (80, vec![0])));
    fan.push((40, (1..9).collect()));
    vec![
        ("independent reads, 5", vec![(100, Vec::new()); 5]),
        ("parallel calls, 8", vec![(100, Vec::new()); 8]),
        ("mixed, 10", mixed),
        ("chain, 5", chain.collect()),
        ("fan-out, fan-in", fan),
    ]
}

fn plan_of(tasks: &[(u64, Vec<usize>)]) -> Plan {
    let task = |(index, (ms, before)): (usize, &(u64, Vec<usize>))| {
        let before: Vec<String> = before.iter().map(|before| format!("t{before}")).collect();
        json!({ "id": format!("t{index}"), "tool": "work:wait", "args": { "ms": ms }, "depends_on": before })
    };
    let tasks: Vec<Value> = tasks.iter().enumerate().map(task).collect();
    let limits = PlanLimits::default();
    Plan::from_value(json!({ "concurrency": 10_000, "tasks": tasks }), &limits)
        .expect("the plans of this file are valid")
}

fn longest(tasks: &[(u64, Vec<usize>)]) -> u64 {
    let mut until: Vec<u64> = Vec::new();
    for (ms, before) in tasks {
        let start = before.iter().map(|before| until[*before]).max();
        until.push(ms + start.unwrap_or(0));
    }
    until.into_iter().max().unwrap_or(0)
}

/// A graph with up to three dependencies per task, from a fixed seed.
fn random_graph(tasks: usize) -> Vec<(u64, Vec<usize>)> {
    let mut seed = 42_u64;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let mut graph = Vec::with_capacity(tasks);
    for index in 0..tasks {
        let count = if index == 0 { 0 } else { next(4) };
        let before = (0..count).map(|_| next(index as u64) as usize).collect();
        graph.push((5 + next(40), before));
    }
    graph
}

struct Timers {
    host: Arc<StaticHost>,
    context: RunContext,
}

impl Timers {
    fn new() -> Self {
        let wait = |args: Value| async move {
            let ms = args["ms"].as_u64().unwrap_or(0);
            if ms > 0 {
                tokio::time::sleep(Duration::from_millis(ms)).await;
            }
            Ok(json!({ "waited": ms }))
        };
        Self {
            host: Arc::new(StaticHost::empty().with("work:wait", "Waits", wait)),
            context: RunContext::local(),
        }
    }

    async fn wait(&self, tool: &str, args: &Value) -> Result<Value, Failure> {
        let args = to_raw_value(args).map_err(Failure::internal)?;
        let request = Request::call(tool, args);
        let answer = self.host.handle(&request, &self.context.for_request());
        serde_json::from_str(answer.await?.get()).map_err(Failure::internal)
    }
}

impl TaskRunner for Timers {
    fn call<'a>(&'a self, task: ToolTask<'a>) -> TaskFuture<'a, Result<Value, TaskError>> {
        Box::pin(async move { Ok(self.wait(task.tool, &task.args).await?) })
    }

    fn code<'a>(&'a self, _: CodeTask<'a>) -> TaskFuture<'a, Result<Value, TaskError>> {
        Box::pin(std::future::ready(Ok(Value::Null)))
    }

    fn effect<'a>(&'a self, _: &'a str) -> TaskFuture<'a, EffectClass> {
        Box::pin(std::future::ready(EffectClass::Read))
    }

    fn approve<'a>(&'a self, _: ApprovalAsk<'a>) -> TaskFuture<'a, Result<(), Failure>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

fn options() -> RunOptions<'static> {
    RunOptions {
        limits: PlanLimits {
            concurrency: 10_000,
            ..PlanLimits::default()
        },
        ..RunOptions::default()
    }
}

fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let timers = Timers::new();
    println!(
        "{:<24} {:>10} {:>12} {:>10} {:>9}",
        "plan", "total", "critical", "ratio", "speed-up"
    );
    for (name, tasks) in rows() {
        let report = run(&plan_of(&tasks), &timers, options()).await;
        let critical = longest(&tasks) as f64;
        println!(
            "{name:<24} {:>7.1} ms {critical:>9.1} ms {:>10.3} {:>8.2}x",
            report.times.wall_ms,
            critical / report.times.wall_ms,
            report.times.speedup,
        );
    }
    let tasks = random_graph(1_000);
    let report = run(&plan_of(&tasks), &timers, options()).await;
    let critical = longest(&tasks) as f64;
    println!(
        "random graph, 1000       {:>7.1} ms {critical:>9.1} ms {:>10.3} of the critical path",
        report.times.wall_ms,
        report.times.wall_ms / critical,
    );

    let count = 5_000;
    let plan = plan_of(&vec![(0, Vec::new()); count]);
    let started = Instant::now();
    let calls = (0..count).map(|_| timers.wait("work:wait", &json!({ "ms": 0 })));
    join_all(calls).await;
    let together = started.elapsed();
    let started = Instant::now();
    run(&plan, &timers, options()).await;
    let planned = started.elapsed();
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
    println!(
        "overhead per task: {:.1} µs ({:.1} µs in the plan, {:.1} µs with join_all)",
        micros(planned) - micros(together),
        micros(planned),
        micros(together),
    );

    let before = resident_mib();
    let chain: Vec<(u64, Vec<usize>)> = (0..10_000_usize)
        .map(|n| (1, n.checked_sub(100).into_iter().collect()))
        .collect();
    let report = run(&plan_of(&chain), &timers, options()).await;
    println!(
        "10000 tasks: {:.1} ms, {:.1} MiB at the peak ({before:.1} MiB before)",
        report.times.wall_ms,
        resident_mib(),
    );
}
