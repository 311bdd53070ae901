//! `pml test`: runs test files.

mod reporter;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use pml_protocol::Limits;
use pml_runtime::{Pool, PoolOptions};
use pml_test_runner::{
    Coverage, FileResult, FileWatcher, Runner, RunnerOptions, SnapshotUpdate, Summary, TestRoot,
    discover,
};

use crate::amounts::parse_time;
use crate::exit::ExitCode;
use crate::{diagnostics, exit, interrupt};
use reporter::{Format, Reporter};

/// How often a watched folder is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Run the tests of scripts
///
/// Each *.test.ts and *.test.js file below the working folder runs in its own sandbox, without
/// servers: mock tools with mockTool, or use a recording of `pml run --record`.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml test                          all tests below this folder\n  \
    pml test audit -t 'reads files'   files and tests whose names contain these words\n  \
    pml test --watch                  run again when a file changes\n  \
    pml test --reporter junit --output results.xml --coverage lcov.info\n\n\
    A test:\n  \
    import { test, expect, mockTool } from \"pml/test\";\n  \
    import audit from \"./audit.ts\";\n\n  \
    test(\"counts the files\", async () => {\n    \
      const list = mockTool(\"fs:list_files\", () => [\"a\", \"b\"]);\n    \
      expect(await audit()).toEqual({ files: 2 });\n    \
      expect(list).toHaveBeenCalledTimes(1);\n  \
    });\n\n\
    Exit codes: 0 all passed, 1 a test failed, 2 wrong usage or no test found, 130 interrupted.")]
pub struct TestArgs {
    /// Only files whose path contains one of these
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,

    /// Only tests whose full name contains this
    #[arg(short = 't', long, value_name = "TEXT")]
    name: Option<String>,

    /// Rewrite snapshots, and remove those that no test uses
    #[arg(short, long)]
    update: bool,

    /// Run again when a file changes
    #[arg(short, long, conflicts_with_all = ["output", "coverage"])]
    watch: bool,

    /// The format of the report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    reporter: Format,

    /// Print the result as JSON on standard output
    #[arg(long, conflicts_with_all = ["reporter", "output"])]
    json: bool,

    /// Write the report to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write line coverage in lcov format
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,

    /// Time limit of each test that does not set its own
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "5s")]
    timeout: u64,

    /// Number of files to run in parallel [default: the number of cores]
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,

    /// Show every test and every log line
    #[arg(short, long)]
    verbose: bool,

    /// Run even if the kernel lacks landlock or seccomp
    #[arg(long)]
    allow_missing_walls: bool,
}

impl TestArgs {
    fn update(&self) -> SnapshotUpdate {
        match (self.update, is_ci()) {
            (true, _) => SnapshotUpdate::All,
            (false, true) => SnapshotUpdate::Nothing,
            (false, false) => SnapshotUpdate::New,
        }
    }

    fn reporter(&self) -> Format {
        if self.json {
            Format::Json
        } else {
            self.reporter
        }
    }

    fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(2, usize::from);
        self.jobs.unwrap_or_else(cores).max(1)
    }
}

/// Whether this is a CI job. There, new snapshots and `test.only` fail instead of being accepted.
fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false")
}

/// Higher than the limits of a script: one test file calls a script many times.
fn limits() -> Limits {
    Limits {
        wall_ms: 120_000,
        cpu_ms: 30_000,
        calls: 10_000,
        ..Limits::default()
    }
}

pub fn run(args: &TestArgs) -> ExitCode {
    run_tests(args).unwrap_or_else(exit::usage_error)
}

fn run_tests(args: &TestArgs) -> anyhow::Result<ExitCode> {
    let root = TestRoot::new(Path::new(".")).context("the working folder cannot be read")?;
    let files = discover(root.path(), &args.patterns)?;
    if files.is_empty() && !args.watch {
        match args.patterns.as_slice() {
            [] => {
                bail!("there is no *.test.ts below this folder; `pml test --help` shows an example")
            }
            patterns => bail!(
                "no *.test.ts below this folder has `{}` in its path",
                patterns.join("` or `")
            ),
        }
    }
    let jobs = args.jobs();
    let pool = Pool::new(PoolOptions {
        warm: jobs,
        running: jobs,
        limits: limits(),
        allow_missing_walls: args.allow_missing_walls,
        ..PoolOptions::new()?
    });
    let runner = Runner::new(
        &pool,
        root.clone(),
        RunnerOptions {
            timeout_ms: args.timeout,
            name: args.name.clone(),
            update: args.update(),
            allow_only: !is_ci(),
            coverage: args.coverage.is_some(),
            jobs,
            sleep: |time| Box::pin(tokio::time::sleep(time)),
        },
    );
    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    event_loop.block_on(async {
        let work = async {
            match args.watch {
                true => watch(args, &runner, &root, files).await,
                false => once(args, &runner, &files).await,
            }
        };
        match interrupt::or(work).await? {
            Some(done) => done,
            None => {
                diagnostics::error("interrupted");
                Ok(exit::interrupted())
            }
        }
    })
}

async fn once(args: &TestArgs, runner: &Runner<'_>, files: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let mut reporter = Reporter::new(args.reporter(), args.output.as_deref(), args.verbose)?;
    let (results, coverage) = report(runner, files, &mut reporter).await?;
    if let Some(file) = &args.coverage {
        std::fs::write(file, coverage.lcov())
            .with_context(|| format!("the coverage file {} cannot be written", file.display()))?;
        reporter.coverage(&coverage)?;
    }
    let ran: usize = results.iter().map(|file| file.tests.len()).sum();
    if ran == 0 && results.iter().all(FileResult::passed) {
        let name = args.name.as_deref().unwrap_or_default();
        bail!("no test has `{name}` in its name");
    }
    Ok(match results.iter().all(FileResult::passed) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

async fn report(
    runner: &Runner<'_>,
    files: &[PathBuf],
    reporter: &mut Reporter,
) -> anyhow::Result<(Vec<FileResult>, Coverage)> {
    let began = Instant::now();
    let mut printed = Ok(());
    let (results, coverage) = runner
        .run(files, |file| {
            if printed.is_ok() {
                printed = reporter.file(file);
            }
        })
        .await;
    printed?;
    reporter.finish(&results, &Summary::of(&results, began.elapsed()))?;
    Ok((results, coverage))
}

/// Runs all tests, then after each change those that it affects, until Ctrl-C.
async fn watch(
    args: &TestArgs,
    runner: &Runner<'_>,
    root: &TestRoot,
    mut files: Vec<PathBuf>,
) -> anyhow::Result<ExitCode> {
    let mut watch = FileWatcher::new(root.path())?;
    let mut known: Vec<FileResult> = Vec::new();
    let mut changed = Vec::new();
    loop {
        if !files.is_empty() {
            let mut reporter = Reporter::new(args.reporter(), None, args.verbose)?;
            let (results, _) = report(runner, &files, &mut reporter).await?;
            known.retain(|old| !files.contains(&old.path));
            known.extend(results);
            // Files saved during the run count as changed, except the snapshots that it wrote.
            changed = watch.changed()?;
            changed.retain(|path| !path.to_string_lossy().contains("__snapshots__"));
        }
        if changed.is_empty() {
            diagnostics::line("waiting for changes; press Ctrl-C to end");
        }
        while changed.is_empty() {
            tokio::time::sleep(POLL_INTERVAL).await;
            changed = watch.changed()?;
        }
        let changed = std::mem::take(&mut changed);
        files = discover(root.path(), &args.patterns)?;
        files.retain(|file| {
            let last = known.iter().find(|old| old.path == *file);
            last.is_none_or(|old| {
                let snapshots = |path: &PathBuf| path.to_string_lossy().contains("__snapshots__");
                let touched = |path: &PathBuf| old.dependencies.contains(path);
                !old.passed() || changed.iter().any(|path| touched(path) || snapshots(path))
            })
        });
    }
}
