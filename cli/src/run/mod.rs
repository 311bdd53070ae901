//! `pml run`: one script, once.

mod amounts;
mod report;
mod script;
mod trace;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use pml_runtime::memory::MemoryHost;
use pml_runtime::{Event, Limits, Outcome, Pool, PoolOptions, Wishes};

use crate::exit;
use crate::paint::Paint;
use amounts::{parse_memory, parse_time};
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
    pml run --json --timeout 2s --memory 64 audit.ts\n\n\
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
    #[arg(short, long, value_name = "CODE")]
    eval: Option<String>,

    /// Print the whole outcome as JSON on standard output, and nothing else
    #[arg(long)]
    json: bool,

    /// Time limit, such as 2s, 500ms or 1m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_time)]
    timeout: u64,

    /// Processor-time limit
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_time)]
    cpu: u64,

    /// Heap limit in MiB, or with a unit such as 512k or 1g
    #[arg(long, value_name = "SIZE", default_value = "128", value_parser = parse_memory)]
    memory: u64,

    /// Number of tool calls
    #[arg(long, value_name = "N", default_value_t = Limits::default().calls)]
    max_calls: u32,

    /// Characters of the result
    #[arg(long, value_name = "N", default_value_t = Limits::default().output_chars)]
    max_output: u64,

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
    /// On the command line the operator and the caller are one person: a flag may raise a limit.
    fn limits(&self) -> Limits {
        let operator = Limits {
            wall_ms: self.timeout,
            cpu_ms: self.cpu,
            heap_bytes: self.memory,
            calls: self.max_calls,
            output_chars: self.max_output,
            ..Limits::default()
        };
        operator.lowered(&Wishes::default())
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

pub fn run(args: RunArgs) -> ExitCode {
    let paint = Paint::for_stderr();
    match run_script(&args, paint) {
        Ok(Some(outcome)) => {
            let printed = if args.json {
                report::print_json(&outcome)
            } else {
                report::print(&outcome, args.origin().name().as_ref(), paint)
            };
            match printed {
                Ok(()) => exit::of(&outcome),
                // Whoever read the output has heard enough.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => exit::of(&outcome),
                Err(error) => {
                    eprintln!("{} the result could not be printed: {error}", paint.error());
                    exit::internal()
                }
            }
        }
        Ok(None) => {
            eprintln!("{} interrupted", paint.error());
            exit::interrupted()
        }
        Err(error) => {
            eprintln!("{} {error:#}", paint.error());
            exit::usage()
        }
    }
}

/// `None` if Ctrl-C ended the run.
fn run_script(args: &RunArgs, paint: Paint) -> anyhow::Result<Option<Outcome>> {
    let limits = args.limits();
    let pool = Pool::new(PoolOptions {
        warm: 0,
        limits,
        jit: !args.no_jit,
        allow_missing_walls: args.allow_missing_walls,
        ..PoolOptions::new()?
    })?;
    // The worker starts while the script is being read.
    pool.prepare();
    let script = script::read(&args.origin(), limits.source_bytes, args.args.clone())?;
    let mut trace = args.trace.as_deref().map(Trace::create).transpose()?;

    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcome = event_loop.block_on(async {
        let mut on_event = |event: Event<'_>| {
            if let Some(trace) = &mut trace {
                trace.note(&event);
            }
            if let Event::Log(line) = event
                && !args.json
            {
                report::print_log(line, paint);
            }
        };
        let host = Arc::new(MemoryHost::empty());
        tokio::select! {
            outcome = pool.run(script, limits, host, &mut on_event) => Ok(Some(outcome)),
            interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| None),
        }
    })?;
    if let Some(trace) = trace {
        trace.finish(outcome.as_ref())?;
    }
    Ok(outcome)
}
