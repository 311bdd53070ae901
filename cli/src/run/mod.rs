//! `pml run`: one script, once.

mod backing;
mod report;
pub mod script;
mod trace;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use pml_runtime::{
    Ahead, ErrorKind, Event, Limits, Outcome, Pool, PoolOptions, RunError, Stats, Wishes,
    WorkerOptions,
};
use pml_scrub::Scrubber;
use pml_session::Session;

use crate::amounts::{parse_memory, parse_time};
use crate::config::{self, Settings};
use crate::exit::ExitCode;
use crate::memory::Memory;
use crate::paint::Paint;
use crate::{complain, exit, interrupt, progress, searching};
use backing::{Backing, BackingArgs, Rehearsal};
use script::Origin;
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
    pml run --dry-run audit.ts                 what it would call, without calling it\n\n\
    Exit codes: 0 ok, 1 the script failed, 2 wrong usage, 124 time limit, 137 memory limit,\n\
    130 interrupted, 70 internal error.")]
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

    /// Print the whole outcome as JSON on standard output, and nothing else
    #[arg(long)]
    json: bool,

    /// Time limit, such as 2s, 500ms or 1m; a bare number is seconds [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<u64>,

    /// Processor-time limit [default: 5s]
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
    backing: BackingArgs,

    /// Replace personal data and secrets in the result, the logs and the error
    ///
    /// The logs are shown when the run has ended.
    #[arg(long)]
    scrub: bool,

    /// Run without V8's compilers: slower, with less to attack
    #[arg(long)]
    no_jit: bool,

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
        limits.lowered(&Wishes::default())
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

/// What to say to someone who wrote them elsewhere.
pub const WHERE_ARGUMENTS_GO: &str =
    "Arguments for the script go after `--`: pml run script.ts -- first second";

/// Whether the command line is one of `pml run`, as far as its first word tells.
pub fn is_asked_for() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == "run")
}

const INTERRUPTED: &str = "interrupted";

/// A worker as most runs need it, before anything is known about this one.
pub fn begin_worker() -> Option<Ahead> {
    Ahead::begin(WorkerOptions::for_limits(&Limits::default(), true))
}

pub fn run(args: &RunArgs, config: Option<&Path>, worker: Option<Ahead>) -> ExitCode {
    let paint = Paint::for_stderr();
    run_script(args, config, worker, paint).unwrap_or_else(exit::mistake)
}

/// An error is a mistake in the usage or the configuration; everything else is an exit code.
fn run_script(
    args: &RunArgs,
    config: Option<&Path>,
    worker: Option<Ahead>,
    paint: Paint,
) -> anyhow::Result<ExitCode> {
    let settings = config::load(config)?;
    let limits = args.limits(&settings);
    let pool = Pool::new(PoolOptions {
        warm: 0,
        limits,
        jit: !args.no_jit,
        allow_missing_walls: args.allow_missing_walls,
        ..PoolOptions::new()?
    });
    // The worker starts while the script is being read, if it has not long begun.
    pool.prepare(worker);
    let script = script::read(&args.origin(), limits.source_bytes, args.args.clone())?;
    let mut trace = args.trace.as_deref().map(Trace::create).transpose()?;
    let tool_timeout = args.tool_timeout(&settings);
    let scrubber = match args.scrub {
        true => Some(Arc::new(Scrubber::new(&settings.scrub)?)),
        false => None,
    };
    let memory = Memory::of(&settings.servers);
    let mode = args.backing.mode(&memory)?;

    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    event_loop.block_on(async {
        // What is told while it happens is told unscrubbed.
        let live = !args.json && !args.scrub;
        let began = Instant::now();
        let mut so_far = Outcome::default();
        let mut on_event = |event: Event<'_>| {
            match &event {
                Event::Log(line) => so_far.logs.push((*line).clone()),
                Event::CallEnded { call, .. } => so_far.calls.push((*call).clone()),
                _ => {}
            }
            if let Some(trace) = &mut trace {
                trace.note(&event);
            }
            if let Event::Log(line) = event
                && live
            {
                report::print_log(line, paint);
            }
        };
        let name = script.name.clone();
        let scrub_rules = settings.scrub;
        let search = searching::open(settings.servers.file.as_deref())?;
        let backing = Backing::new(
            mode,
            settings.servers,
            search,
            scrubber,
            tool_timeout,
            &limits,
            {
                move |told| {
                    if live {
                        progress::print(&told, paint);
                    }
                }
            },
        )?;
        let limits = Session::runtime_limits(limits);
        let options = backing.options();
        let run = pool.run_with(script, options, limits, backing.host(), &mut on_event);
        let ended = interrupt::or(run).await?;
        let is_whole = ended.is_some();
        let mut outcome = ended.unwrap_or_else(|| interrupted(so_far, began));
        if args.scrub {
            let began = Instant::now();
            outcome = backing.session().scrub(outcome);
            if let Some(trace) = &mut trace {
                trace.scrubbed(began);
            }
            if !args.json {
                let lines = outcome.logs.iter();
                lines.for_each(|line| report::print_log(line, paint));
            }
        }

        // The answer first: servers take their time to leave.
        report::print_problems(backing.session().problems());
        if let Some(notice) = backing.session().search_notice() {
            complain::warning(format_args!("searched by words alone: {notice}"));
        }
        let rehearsal = backing.rehearsal();
        let mut code = exit::interrupted();
        if is_whole || args.json {
            let printed = print(args, &outcome, rehearsal.as_ref(), paint);
            code = if is_whole { printed } else { code };
        }
        let kept = backing.keep(&name, &scrub_rules);
        let traced = trace.map_or(Ok(()), |trace| {
            trace.finish(&outcome, |tool| backing.session().scrub_words(tool))
        });
        let session = backing.session();
        // A replay has no servers to learn from.
        if session.has_listed() && session.gateway().servers().next().is_some() {
            memory.keep_tools(&session.gateway().tools(), session.problems());
        }
        memory.keep_shapes(session.take_observed());
        backing.close().await;
        kept.and(traced).map(|()| code)
    })
}

/// What there is to say of a run that somebody ended.
fn interrupted(so_far: Outcome, began: Instant) -> Outcome {
    complain::error(INTERRUPTED);
    Outcome {
        stats: Stats {
            wall_ms: began.elapsed().as_secs_f64() * 1e3,
            ..Stats::default()
        },
        error: Some(RunError::new(ErrorKind::Runtime, INTERRUPTED)),
        ..so_far
    }
}

fn print(
    args: &RunArgs,
    outcome: &Outcome,
    rehearsal: Option<&Rehearsal>,
    paint: Paint,
) -> ExitCode {
    let printed = if args.json {
        report::print_json(outcome, rehearsal)
    } else {
        if let Some(rehearsal) = rehearsal {
            report::print_rehearsal(rehearsal, paint);
        }
        report::print(outcome, args.origin().name().as_ref(), paint)
    };
    match exit::check_pipe(printed) {
        Ok(()) => exit::of(outcome),
        Err(error) => {
            complain::error(format_args!("the result could not be printed: {error}"));
            exit::internal()
        }
    }
}
