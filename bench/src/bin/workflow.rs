//! How near the scheduler of `workflow/` comes to the critical path, and what a task costs.
//!
//! Tools are timers, so that the figures are those of the scheduler and not of servers. Every ratio is of
//! one run. The calls of the last table go through the same request pipeline, once as a plan and once from
//! a script with `Promise.all`.
//!
//! ```sh
//! cargo run --release -p pml-bench --bin workflow
//! cargo run --release -p pml-bench --bin workflow -- --graphs bench/graphs
//! cargo run -p pml-bench --bin workflow -- --program target/debug/pml    # without building pml
//! ```

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use pml_bench::{build_pml, describe_machine};
use pml_hosts::{StaticHost, stack};
use pml_protocol::{EffectClass, Limits, LogLine, RequestedLimits, RunContext, ToolHost};
use pml_runtime::{LazyPool, Pool, PoolOptions, Script};
use pml_workflow::{
    PipelineRunner, Plan, PlanLimits, RunOptions, RunnerHooks, RunnerParts, TaskEvent, TaskFuture,
    WorkflowReport, run, show,
};
use serde_json::{Value, json};

/// Runs of which the best counts: a busy machine delays timers.
const ROUNDS: usize = 3;
/// Calls of the comparison with `Promise.all`.
const CALLS: u32 = 2_000;

#[derive(Parser)]
struct Args {
    /// Write the graphs of the article's rows, with their times, into this folder
    #[arg(long)]
    graphs: Option<PathBuf>,

    /// A built `pml`, whose workers run the scripts; without it, one is built
    #[arg(long)]
    program: Option<PathBuf>,
}

/// A task: its milliseconds, and the tasks that it waits for.
type Row = (u64, Vec<usize>);
type Graph = Vec<Row>;

/// The rows of the table in the article about AgentCards.
fn rows() -> Vec<(&'static str, Graph)> {
    let chain = (0..5_usize).map(|n| (100, n.checked_sub(1).into_iter().collect()));
    let mut mixed: Graph = (0..5).map(|n| (100 + 20 * n, Vec::new())).collect();
    mixed.extend((0..4).map(|n| (120, vec![n, n + 1])));
    mixed.push((100, vec![5, 6, 7, 8]));
    let mut fan: Graph = vec![(100, Vec::new())];
    fan.extend((0..8).map(|_| (150, vec![0])));
    fan.push((100, (1..9).collect()));
    vec![
        ("independent-reads-5", vec![(100, Vec::new()); 5]),
        ("parallel-calls-8", vec![(100, Vec::new()); 8]),
        ("mixed-10", mixed),
        ("chain-5", chain.collect()),
        ("fan-out-fan-in", fan),
    ]
}

fn plan_of(name: &str, tasks: &[Row]) -> Result<Plan> {
    let task = |(index, (ms, before)): (usize, &Row)| {
        let before: Vec<String> = before.iter().map(|before| format!("t{before}")).collect();
        json!({ "id": format!("t{index}"), "tool": "work:wait", "args": { "ms": ms }, "depends_on": before })
    };
    let tasks: Vec<Value> = tasks.iter().enumerate().map(task).collect();
    let plan = json!({ "name": name, "tasks": tasks });
    Ok(Plan::from_value(plan, &limits())?)
}

fn limits() -> PlanLimits {
    PlanLimits {
        concurrency: 10_000,
        ..PlanLimits::default()
    }
}

fn longest(tasks: &[Row]) -> u64 {
    let mut until: Vec<u64> = Vec::new();
    for (ms, before) in tasks {
        let start = before.iter().map(|before| until[*before]).max();
        until.push(ms + start.unwrap_or(0));
    }
    until.into_iter().max().unwrap_or(0)
}

/// A graph with up to three dependencies per task, from a fixed seed.
fn random_graph(tasks: usize) -> Graph {
    let mut seed = 42_u64;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let mut graph = Vec::with_capacity(tasks);
    for index in 0..tasks {
        let count = if index == 0 { 0 } else { next(4) };
        let before = (0..count).map(|_| next(index as u64) as usize).collect();
        graph.push((20 + next(80), before));
    }
    graph
}

/// A tool that waits, below the limits of a run.
fn host() -> Arc<dyn ToolHost> {
    let wait = |args: Value| async move {
        let ms = args["ms"].as_u64().unwrap_or(0);
        if ms > 0 {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        Ok(json!({ "waited": ms }))
    };
    let limits = Limits {
        concurrent_calls: 10_000,
        ..Limits::default()
    };
    stack::limited(
        StaticHost::empty().with("work:wait", "Waits", wait),
        &limits,
    )
}

struct Hooks;

impl RunnerHooks for Hooks {
    fn effect<'a>(&'a self, _: &'a str) -> TaskFuture<'a, EffectClass> {
        Box::pin(std::future::ready(EffectClass::Read))
    }

    fn log(&self, _: &str, _: &LogLine) {}

    fn event(&self, _: TaskEvent<'_>) {}
}

fn runner(pool: &Arc<Pool>) -> PipelineRunner {
    PipelineRunner::new(RunnerParts {
        host: host(),
        code_host: Box::new(host),
        pool: LazyPool::running(pool.clone()),
        limits: Limits::default(),
        context: RunContext::local(),
        clock: None,
        kept: None,
        hooks: Arc::new(Hooks),
    })
}

async fn execute(plan: &Plan, pool: &Arc<Pool>) -> Result<WorkflowReport> {
    let options = RunOptions {
        limits: limits(),
        ..RunOptions::default()
    };
    let report = run(plan, &runner(pool), options).await;
    ensure!(
        report.ok,
        "a task failed: {:?}",
        report.tasks.iter().find(|task| task.error.is_some())
    );
    Ok(report)
}

/// The fastest of a few runs.
async fn best(plan: &Plan, pool: &Arc<Pool>) -> Result<WorkflowReport> {
    let mut best = execute(plan, pool).await?;
    for _ in 1..ROUNDS {
        let report = execute(plan, pool).await?;
        if report.times.wall_ms < best.times.wall_ms {
            best = report;
        }
    }
    Ok(best)
}

/// The same tasks one after another.
async fn in_sequence(tasks: &[Row], pool: &Arc<Pool>) -> Result<f64> {
    let chain: Graph = tasks
        .iter()
        .enumerate()
        .map(|(index, (ms, _))| (*ms, index.checked_sub(1).into_iter().collect()))
        .collect();
    let report = execute(&plan_of("sequence", &chain)?, pool).await?;
    Ok(report.times.wall_ms)
}

/// A figure beside its target.
struct Target {
    what: String,
    is: f64,
    /// The least, or the most, that is good enough.
    bound: Bound,
    unit: &'static str,
}

enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Target {
    fn new(what: impl Into<String>, is: f64, bound: Bound, unit: &'static str) -> Self {
        Self {
            what: what.into(),
            is,
            bound,
            unit,
        }
    }

    fn print(&self) {
        let (word, target, is_met) = match self.bound {
            Bound::AtLeast(target) => ("at least", target, self.is >= target),
            Bound::AtMost(target) => ("at most", target, self.is <= target),
        };
        let (Self { what, is, unit, .. }, met) = (self, if is_met { "yes" } else { "no" });
        println!("| {what} | {is:.3}{unit} | {word} {target}{unit} | {met} |");
    }
}

/// The row whose tasks are all independent, for the target of width 8.
const WIDTH_8: &str = "parallel-calls-8";

async fn article(pool: &Arc<Pool>, graphs: Option<&PathBuf>) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    println!(
        "\n| row of the article | one after another | plan | times faster | critical path / total |"
    );
    println!("|---|---|---|---|---|");
    for (name, tasks) in rows() {
        let plan = plan_of(name, &tasks)?;
        let sequential = in_sequence(&tasks, pool).await?;
        let report = best(&plan, pool).await?;
        let wall = report.times.wall_ms;
        let (faster, critical) = (sequential / wall, longest(&tasks) as f64 / wall);
        println!("| {name} | {sequential:.1} ms | {wall:.1} ms | {faster:.2} | {critical:.3} |");
        if name == WIDTH_8 {
            let what =
                "width 8, times faster than one after another (AgentCards 5.9, LLMCompiler 3.7)";
            targets.push(Target::new(what, faster, Bound::AtLeast(7.0), ""));
        }
        let what = format!("{name}, critical path / total");
        targets.push(Target::new(what, critical, Bound::AtLeast(0.95), ""));
        if let Some(folder) = graphs {
            std::fs::create_dir_all(folder)?;
            std::fs::write(
                folder.join(format!("{name}.svg")),
                show::svg(&plan, Some(&report)),
            )?;
        }
    }
    Ok(targets)
}

/// A plan of independent calls, beside the same calls of a script.
async fn overhead(pool: &Arc<Pool>) -> Result<Target> {
    let tasks: Graph = vec![(0, Vec::new()); CALLS as usize];
    let plan = plan_of("calls", &tasks)?;
    let script = Script {
        name: "calls.ts".to_owned(),
        source: format!(
            "const began = performance.now();
             await Promise.all(Array.from({{ length: {CALLS} }}, () => tools.work.wait({{ ms: 0 }})));
             return performance.now() - began;"
        ),
        args: Vec::new(),
    };
    let asked = Limits {
        calls: CALLS,
        cpu_ms: 60_000,
        ..*pool.limits()
    };
    let limits = asked.lowered(&RequestedLimits::default());
    let (mut plans, mut scripts) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        plans = plans.min(execute(&plan, pool).await?.times.wall_ms);
        let outcome = pool.run(script.clone(), limits, host(), &mut |_| {}).await;
        ensure!(outcome.ok, "{:?}", outcome.error);
        let took = outcome.result.as_deref().map_or("0", |json| json.get());
        scripts = scripts.min(took.parse()?);
    }
    let micros = |ms: f64| ms * 1e3 / f64::from(CALLS);
    println!("\n| {CALLS} calls | a call |\n|---|---|");
    println!("| `Promise.all` in a script | {:.1} µs |", micros(scripts));
    println!("| tasks of a plan | {:.1} µs |", micros(plans));
    let what = "what a task costs more than a call of `Promise.all`";
    let more = micros(plans - scripts);
    Ok(Target::new(what, more, Bound::AtMost(150.0), " µs"))
}

fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

async fn large(pool: &Arc<Pool>) -> Result<[Target; 2]> {
    println!("\n| large plan | total | critical path | total / critical path |\n|---|---|---|---|");
    let tasks = random_graph(1_000);
    let report = best(&plan_of("random", &tasks)?, pool).await?;
    let critical = longest(&tasks) as f64;
    let ratio = report.times.wall_ms / critical;
    println!(
        "| 1,000 tasks in a random graph | {:.1} ms | {critical:.1} ms | {ratio:.3} |",
        report.times.wall_ms,
    );
    let before = peak_mib();
    let tasks: Graph = (0..10_000_usize)
        .map(|n| (1, n.checked_sub(100).into_iter().collect()))
        .collect();
    let started = Instant::now();
    let report = execute(&plan_of("long", &tasks)?, pool).await?;
    println!(
        "| 10,000 tasks | {:.1} ms | {:.1} ms | {:.3} |",
        report.times.wall_ms,
        longest(&tasks) as f64,
        report.times.wall_ms / longest(&tasks) as f64,
    );
    println!(
        "\n10,000 tasks took {:.2} s with reading the plan. The peak of memory was {before:.1} MiB before and {:.1} MiB after.",
        started.elapsed().as_secs_f64(),
        peak_mib(),
    );
    let grown = peak_mib() - before;
    Ok([
        Target::new(
            "1,000 tasks, total / critical path",
            ratio,
            Bound::AtMost(1.15),
            "",
        ),
        Target::new(
            "10,000 tasks, growth of memory",
            grown,
            Bound::AtMost(200.0),
            " MiB",
        ),
    ])
}

fn main() -> Result<()> {
    let args = Args::parse();
    let program = match args.program {
        Some(program) => program.canonicalize()?,
        None => build_pml()?,
    };
    println!("{}", describe_machine());
    let pool = Arc::new(Pool::new(PoolOptions {
        program,
        warm: 1,
        ..PoolOptions::new()?
    }));
    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    event_loop.block_on(async {
        let mut targets = article(&pool, args.graphs.as_ref()).await?;
        targets.push(overhead(&pool).await?);
        targets.extend(large(&pool).await?);
        println!("\n| target | measured | wanted | met |\n|---|---|---|---|");
        targets.iter().for_each(Target::print);
        Ok(())
    })
}
