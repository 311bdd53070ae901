//! `pml run`: one script, once.

pub mod durable;
mod durable_tools;
mod pipeline;
pub mod report;
mod run_audit;
mod run_telemetry;
pub mod run_tools;
pub mod script;
pub mod tool_source;
mod trace;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use pml_hosts::journal::RunJournal;
use pml_hosts::{OwnClock, RunEnd};
use pml_protocol::{ErrorKind, Limits, Outcome, RequestedLimits, RunError, Stats, ToolHost};
use pml_reply::ReplyScrubber;
use pml_runtime::{
    Event, LazyPool, Pool, PoolOptions, PreforkedWorker, RunOptions, Script, WorkerOptions,
};
use pml_scrub::{PlaceholderMap, Scrubber, SharedPlaceholders};
use pml_server::log::in_run;
use pml_store::Store;
use pml_workflow::{CodeHost, PlanLimits, ScriptPlanParts, ScriptPlans};

use crate::amounts::{parse_memory, parse_time};
use crate::audit_setup::AuditSetup;
use crate::config::{self, Settings, SpeculationMode};
use crate::exit::ExitCode;
use crate::learn::first_comment::first_comment;
use crate::style::Style;
use crate::tool_cache::ToolCache;
use crate::workflow::{CliHooks, TaskApprovals};
use crate::{diagnostics, exit, interrupt, progress, search_setup, suspensions};
use durable::{DurableArgs, DurableRun};
use run_telemetry::RunTelemetry;
pub use run_telemetry::command_telemetry;
use run_tools::{DryRunPlan, LearnedRun, RunTools, RunToolsOptions};
use script::Origin;
use tool_source::{LiveMode, ToolSource, ToolSourceArgs};
use trace::Trace;

/// Run a script in the sandbox
///
/// The script is TypeScript or JavaScript. Its result is its default export, its `return`
/// value, what its `run()` or `main()` gives, or its last expression.
#[derive(Args)]
#[command(override_usage = "pml run [OPTIONS] <FILE | - | -e CODE> [-- ARGS...]")]
#[command(after_help = "Examples:\n  \
    pml run audit.ts -- --since 2026-01-01     arguments arrive as `args`\n  \
    pml run -e 'return await searchTools(\"send a message\")'\n  \
    echo '6 * 7' | pml run -\n  \
    pml run --json --timeout 2s --memory 64 audit.ts\n  \
    pml run --config servers.json -e 'return await tools.fs.list_directory({ path: \".\" })'\n  \
    pml run --record audit.json audit.ts       then, anywhere: pml run --replay audit.json audit.ts\n  \
    pml run --dry-run audit.ts                 what it would call, without calling it\n  \
    pml run --no-speculate audit.ts            every call when the script makes it, not earlier\n  \
    pml run --durable --run-id audit-7 audit.ts    after a crash: pml resume audit-7\n\n\
    Exit codes: 0 ok, 1 the script failed, 2 wrong usage, 75 it waits for a person (pml runs show),\n\
    124 time limit, 137 memory limit, 130 interrupted, 70 internal error.")]
pub struct RunArgs {
    /// The script, or - for standard input
    #[arg(
        value_name = "FILE",
        required_unless_present = "eval",
        conflicts_with = "eval"
    )]
    file: Option<PathBuf>,

    /// Run this code instead of a file
    #[arg(short, long, value_name = "CODE", allow_hyphen_values = true)]
    eval: Option<String>,

    /// Print the result as JSON on standard output
    ///
    /// It is the whole outcome: result, logs, calls, times, error. Nothing else is printed there.
    #[arg(long)]
    json: bool,

    /// Time limit, such as 2s, 500ms or 1m; a bare number is seconds [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<u64>,

    /// CPU-time limit [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    cpu: Option<u64>,

    /// Heap limit in MiB, or with a unit such as 512k or 1g [default: 128]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,

    /// Number of tool calls [default: 100]
    #[arg(long, value_name = "N")]
    max_calls: Option<u32>,

    /// Time limit of one tool call, from its dispatch [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    tool_timeout: Option<u64>,

    /// Characters of the result [default: 24000]
    #[arg(long, value_name = "N")]
    max_output: Option<u64>,

    #[command(flatten)]
    source: ToolSourceArgs,

    #[command(flatten)]
    durable: DurableArgs,

    /// Replace personal data and secrets in the result, the logs and the error
    ///
    /// The logs are shown when the run has ended.
    #[arg(long)]
    scrub: bool,

    /// Run without V8's compilers: slower, with less to attack
    #[arg(long)]
    no_jit: bool,

    /// Make no call before the script makes it
    ///
    /// By default, calls of class `read` start as soon as their arguments are known.
    #[arg(long)]
    no_speculate: bool,

    /// Write a timeline in Chrome's trace format
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Run even where the kernel lacks landlock or seccomp
    #[arg(long)]
    allow_missing_walls: bool,

    /// Arguments for the script, after --
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
}

impl RunArgs {
    /// On the command line the operator and the caller are one person: a flag may raise a limit
    /// of the configuration.
    fn limits(&self, settings: &Settings) -> Limits {
        let operator = settings.limits.limits();
        let limits = Limits {
            wall_ms: self.timeout.unwrap_or(operator.wall_ms),
            cpu_ms: self.cpu.unwrap_or(operator.cpu_ms),
            heap_bytes: self.memory.unwrap_or(operator.heap_bytes),
            calls: self.max_calls.unwrap_or(operator.calls),
            tool_ms: self.tool_timeout.unwrap_or(operator.tool_ms),
            output_chars: self.max_output.unwrap_or(operator.output_chars),
            ..operator
        };
        limits.lowered(&RequestedLimits::default())
    }

    fn tool_timeout(&self, settings: &Settings) -> Option<Duration> {
        self.tool_timeout
            .map(Duration::from_millis)
            .or_else(|| settings.limits.tool_timeout())
    }

    fn origin(&self) -> Origin<'_> {
        match (&self.eval, &self.file) {
            (Some(code), _) => Origin::Code(code),
            (None, Some(path)) if path.as_os_str() == "-" => Origin::Stdin,
            (None, Some(path)) => Origin::File(path),
            // The parser demands one of the two.
            (None, None) => Origin::Stdin,
        }
    }
}

/// The hint for script arguments that were written elsewhere.
pub const WHERE_ARGUMENTS_GO: &str =
    "Arguments for the script go after `--`: pml run script.ts -- first second";

/// Whether the command line is one of `pml run`, judged by its first argument.
pub fn is_requested() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == "run")
}

const INTERRUPTED: &str = "interrupted";

/// Forks a worker with the options that most runs need, before the command line is parsed.
pub fn fork_worker() -> Option<PreforkedWorker> {
    PreforkedWorker::fork(WorkerOptions::for_limits(&Limits::default(), true))
}

pub fn run(args: &RunArgs, config: Option<&Path>, worker: Option<PreforkedWorker>) -> ExitCode {
    let style = Style::for_stderr();
    let prepared = match PreparedRun::new(args, config, worker) {
        Ok(prepared) => prepared,
        Err(error) => return exit::usage_error(error),
    };
    prepared.run(style).unwrap_or_else(exit::usage_error)
}

/// A run whose files are read and whose worker is starting.
pub struct PreparedRun {
    settings: Settings,
    limits: Limits,
    /// The bounds of the plans that the script runs.
    plans: PlanLimits,
    tool_timeout: Option<Duration>,
    pool: Pool,
    script: Script,
    trace: Option<Trace>,
    output: RunOutput,
    scrubber: Option<Arc<Scrubber>>,
    cache: ToolCache,
    source: ToolSource,
    durable: Option<DurableRun>,
    speculate: bool,
}

/// How a run is printed.
#[derive(Debug, Clone, Copy)]
pub struct RunOutput {
    /// The whole outcome as JSON.
    pub json: bool,
    /// Without personal data and secrets.
    pub scrub: bool,
}

/// A run that has ended, or was interrupted.
struct EndedRun {
    outcome: Outcome,
    is_interrupted: bool,
}

impl PreparedRun {
    /// An error is a mistake in the usage or the configuration; everything else is an outcome.
    fn new(
        args: &RunArgs,
        config: Option<&Path>,
        worker: Option<PreforkedWorker>,
    ) -> anyhow::Result<Self> {
        let settings = config::load(config)?;
        let limits = args.limits(&settings);
        let pool = Pool::new(PoolOptions {
            warm: 0,
            limits,
            jit: !args.no_jit,
            allow_missing_walls: args.allow_missing_walls,
            ..PoolOptions::new()?
        });
        // The worker starts while the script is being read, if it was not forked before.
        pool.prepare(worker);
        let script = script::read(&args.origin(), limits.source_bytes, args.args.clone())?;
        let trace = args.trace.as_deref().map(Trace::create).transpose()?;
        let scrubber = match args.scrub {
            true => Some(Arc::new(Scrubber::new(&settings.scrub)?)),
            false => None,
        };
        let cache = ToolCache::for_settings(&settings);
        let source = args.source.source(&cache)?;
        let durable = args.durable.run(&args.origin());
        let speculate = settings.speculate == SpeculationMode::Script && !args.no_speculate;
        Ok(Self {
            tool_timeout: args.tool_timeout(&settings),
            output: RunOutput {
                json: args.json,
                scrub: args.scrub,
            },
            plans: settings.workflows.limits(),
            settings,
            limits,
            pool,
            script,
            trace,
            scrubber,
            cache,
            source,
            durable,
            speculate,
        })
    }

    /// The further execution of a durable run.
    pub fn resumed(
        settings: Settings,
        journal: Arc<RunJournal>,
        store: Store,
        output: RunOutput,
    ) -> anyhow::Result<Self> {
        let spec = journal.spec();
        let limits = spec.limits;
        let pool = Pool::new(PoolOptions {
            warm: 0,
            limits,
            ..PoolOptions::new()?
        });
        pool.prepare(None);
        let scrubber = match output.scrub {
            true => Some(Arc::new(Scrubber::new(&settings.scrub)?)),
            false => None,
        };
        Ok(Self {
            tool_timeout: spec.tool_ms.map(Duration::from_millis),
            script: Script {
                name: spec.script.name.clone(),
                source: spec.script.source.clone(),
                args: spec.script.args.clone(),
            },
            cache: ToolCache::for_settings(&settings),
            plans: settings.workflows.limits(),
            settings,
            limits,
            pool,
            trace: None,
            output,
            scrubber,
            source: ToolSource::Servers(LiveMode::Send),
            durable: Some(DurableRun::Resumed { journal, store }),
            // Most of its answers are in the journal.
            speculate: false,
        })
    }

    fn run(self, style: Style) -> anyhow::Result<ExitCode> {
        let event_loop = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        event_loop.block_on(self.run_in_event_loop(style))
    }

    /// Runs the script to its end and prints what it left.
    pub async fn run_in_event_loop(mut self, style: Style) -> anyhow::Result<ExitCode> {
        let output = self.output;
        // Logs and progress that are printed as they come are not scrubbed.
        let is_live = !output.json && !output.scrub;
        let durable = match self.durable {
            Some(durable) => {
                let script = &self.script;
                let open = durable.open(&self.settings, script, self.limits, self.tool_timeout);
                Some(open.await?)
            }
            None => None,
        };
        let audit = AuditSetup::open_for_command(&self.settings)?;
        let telemetry = command_telemetry(&self.settings)?;
        let suspensions = suspensions::open(&self.settings)?;
        let scrub_rules = std::mem::take(&mut self.settings.scrub);
        let durable_tools = match &durable {
            Some(durable) => Some(durable.tools(&scrub_rules).await?),
            None => None,
        };
        let search = search_setup::open(self.settings.servers.file.as_deref())?;
        let tools = RunTools::open(RunToolsOptions {
            source: self.source,
            tool_timeout: self.tool_timeout,
            config: self.settings.servers,
            search,
            scrubber: self.scrubber,
            limits: self.limits,
            durable: durable_tools,
            audit: Some(audit),
            telemetry,
            costs: self.settings.workflows.call_costs(),
            suspensions,
            learns: self.settings.learn.0,
            speculate: self.speculate,
            sandboxes: self.pool.options_for_children(),
            progress: Arc::new(move |reported| {
                if is_live {
                    progress::print(&reported, style);
                }
            }),
        })?;
        let (name, source) = (self.script.name.clone(), self.script.source.clone());
        let mut observer = RunObserver {
            telemetry: tools.telemetry(),
            trace: self.trace,
            print_logs: is_live.then_some(style),
            so_far: Outcome::default(),
        };
        let host = Arc::new(ScriptPlans::new(
            tools.host(),
            ScriptPlanParts {
                plans: self.plans,
                pool: LazyPool::new(self.pool.options_for_children()),
                code: self.limits,
                code_host: code_host(&tools),
                clock: tools.options().clock.map(|clock| {
                    let entropy = tools.options().entropy;
                    (clock, entropy.unwrap_or_default())
                }),
                hooks: Arc::new(CliHooks {
                    gateway: tools.gateway().cloned(),
                    // The person at the terminal started the script.
                    approvals: TaskApprovals::All,
                    live: None,
                    lines: None,
                    logs: is_live.then_some(style),
                }),
            },
        ));
        let script = (self.script, self.limits);
        let ended = execute(&self.pool, script, host, tools.options(), &mut observer);
        let ended = in_run(tools.context(), ended).await?;
        let EndedRun {
            mut outcome,
            is_interrupted,
        } = ended;
        if let Some(durable) = &durable {
            durable.ended(&mut outcome, is_interrupted).await;
        }
        in_run(tools.context(), async { tools.ended(&outcome) }).await;
        let recorded = RunEnd::new(&outcome);
        let scrub_started = Instant::now();
        let outcome = tools.printed(outcome, &self.limits);
        tools.record_end(&source, recorded);
        if output.scrub {
            if let Some(trace) = &mut observer.trace {
                trace.scrubbed(scrub_started);
            }
            if !output.json {
                let lines = outcome.logs.iter();
                lines.for_each(|line| report::print_log(line, style));
            }
        }

        // The result first: servers take their time to stop.
        let code = report_run(output, &name, &tools, &outcome, is_interrupted, style);
        let saved = tools.save_recording(&name, &scrub_rules);
        let traced = observer.trace.map_or(Ok(()), |trace| {
            trace.finish(&outcome, |tool| tools.printed_text(tool))
        });
        let about = first_comment(&source);
        let ended = LearnedRun {
            ok: outcome.ok,
            about: about.as_deref(),
        };
        tools.save_tools(&self.cache, ended);
        tools.close().await;
        if let Some(durable) = durable {
            durable.close().await;
        }
        saved.and(traced).map(|()| code)
    }
}

/// The host of the code of a plan: with a virtual clock of its own, if the script has one.
fn code_host(tools: &RunTools) -> CodeHost {
    match tools.options().clock {
        Some(_) => Box::new(|host| Arc::new(OwnClock::new(host.clone()))),
        None => Box::new(|host| host.clone()),
    }
}

/// Runs the script to its end, or until Ctrl-C.
async fn execute(
    pool: &Pool,
    (script, limits): (Script, Limits),
    host: Arc<dyn ToolHost>,
    options: RunOptions,
    observer: &mut RunObserver,
) -> anyhow::Result<EndedRun> {
    let started = Instant::now();
    let mut on_event = |event: Event<'_>| observer.note(&event);
    let run = pool.run_with(script, options, limits, host, &mut on_event);
    Ok(match interrupt::or(run).await? {
        Some(outcome) => EndedRun {
            outcome,
            is_interrupted: false,
        },
        None => EndedRun {
            outcome: interrupted(std::mem::take(&mut observer.so_far), started),
            is_interrupted: true,
        },
    })
}

/// Follows a run as it happens.
struct RunObserver {
    /// `None` where the run is not observed.
    telemetry: Option<Arc<RunTelemetry>>,
    trace: Option<Trace>,
    /// How console lines are printed as they come; `None` if they are not.
    print_logs: Option<Style>,
    /// What is left of a run that is interrupted.
    so_far: Outcome,
}

impl RunObserver {
    fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Log(line) => {
                self.so_far.logs.push((*line).clone());
                if let Some(style) = self.print_logs {
                    report::print_log(line, style);
                }
            }
            Event::CallEnded { call, .. } => self.so_far.calls.push((*call).clone()),
            Event::Started => {
                if let Some(telemetry) = &self.telemetry {
                    telemetry.has_worker();
                }
            }
            _ => {}
        }
        if let Some(trace) = &mut self.trace {
            trace.note(event);
        }
    }
}

/// Prints what the run left, and returns the exit code.
fn report_run(
    output: RunOutput,
    name: &str,
    tools: &RunTools,
    outcome: &Outcome,
    is_interrupted: bool,
    style: Style,
) -> ExitCode {
    report::print_problems(tools.problems());
    if let Some(notice) = tools.search_notice() {
        diagnostics::warning(format_args!("searched by words alone: {notice}"));
    }
    if is_interrupted && !output.json {
        return exit::interrupted();
    }
    let plan = tools.dry_run_plan();
    let code = print(output, name, outcome, plan.as_ref(), style);
    match is_interrupted {
        true => exit::interrupted(),
        false => code,
    }
}

/// The outcome of a run that Ctrl-C ended.
fn interrupted(so_far: Outcome, started: Instant) -> Outcome {
    diagnostics::error(INTERRUPTED);
    Outcome {
        stats: Stats {
            wall_ms: started.elapsed().as_secs_f64() * 1e3,
            ..Stats::default()
        },
        error: Some(RunError::new(ErrorKind::Runtime, INTERRUPTED)),
        ..so_far
    }
}

/// Prints an outcome, and returns the exit code.
pub fn print(
    output: RunOutput,
    name: &str,
    outcome: &Outcome,
    plan: Option<&DryRunPlan>,
    style: Style,
) -> ExitCode {
    let printed = if output.json {
        report::print_json(outcome, plan)
    } else {
        if let Some(plan) = plan {
            report::print_plan(plan, style);
        }
        report::print_crossings(outcome);
        report::print(outcome, name, style)
    };
    match exit::check_pipe(printed) {
        Ok(()) => exit::of(outcome),
        Err(error) => {
            diagnostics::error(format_args!("the result could not be printed: {error}"));
            exit::internal()
        }
    }
}

/// A stored outcome without personal data and secrets.
pub fn scrubbed(outcome: Outcome, settings: &Settings, limits: &Limits) -> anyhow::Result<Outcome> {
    let scrubber = Arc::new(Scrubber::new(&settings.scrub)?);
    let placeholders = SharedPlaceholders::new(PlaceholderMap::new(scrubber));
    let replies = ReplyScrubber::for_person(placeholders);
    Ok(replies.outcome(outcome, limits).into_outcome())
}
