//! Runs test files, several at once, each in a worker of its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream;
use pml_hosts::stack;
use pml_protocol::{LogLine, RunContext, RunError, TestSpec};
use pml_runtime::{Event, Pool, RunOptions, Script};
use pml_script::code_frame;
use serde_json::json;
use serde_json::value::to_raw_value;

use crate::coverage::Coverage;
use crate::harness_message::{FileLines, TestEnded, ThrownError};
use crate::results::{FileResult, Location, Status, TestFailure, TestResult, round_millis};
use crate::snapshots::{SnapshotUpdate, Snapshots};
use crate::stack_trace::{first_location, frames};
use crate::test_host::{FileState, TestHost};
use crate::test_root::TestRoot;

/// How tests are run.
#[derive(Debug, Clone)]
pub struct RunnerOptions {
    /// The time limit of one test, unless it has its own.
    pub timeout_ms: u64,
    /// Run only tests whose full name contains this.
    pub name: Option<String>,
    /// Which snapshots are written.
    pub update: SnapshotUpdate,
    /// Whether a test may be marked `only`. In CI that would hide the others.
    pub allow_only: bool,
    /// Whether to record line coverage.
    pub coverage: bool,
    /// The number of files that run at the same time.
    pub jobs: usize,
    /// The timer of the caller's event loop: this crate does not depend on one.
    pub sleep: SleepFn,
}

/// Returns a future that completes after a duration.
pub type SleepFn = fn(Duration) -> Pin<Box<dyn Future<Output = ()>>>;

/// How often the running test is checked for a blocked event loop.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// The time that a worker has after a test's timeout to end the test itself.
const GRACE: Duration = Duration::from_secs(1);

/// Runs test files in the workers of a pool.
pub struct Runner<'p> {
    pool: &'p Pool,
    root: TestRoot,
    options: RunnerOptions,
}

impl<'p> Runner<'p> {
    /// A runner of the test files below `root`.
    pub fn new(pool: &'p Pool, root: TestRoot, options: RunnerOptions) -> Self {
        Self {
            pool,
            root,
            options,
        }
    }

    /// Runs the files and calls `on_file` for each as it ends. The results are in the order of
    /// `files`.
    pub async fn run(
        &self,
        files: &[PathBuf],
        mut on_file: impl FnMut(&FileResult),
    ) -> (Vec<FileResult>, Coverage) {
        let mut coverage = Coverage::default();
        let mut results: Vec<(usize, FileResult)> = Vec::with_capacity(files.len());
        let runs = files.iter().enumerate().map(|(index, file)| async move {
            let (result, lines) = self.run_file(file).await;
            (index, result, lines)
        });
        let mut runs = stream::iter(runs).buffer_unordered(self.options.jobs.max(1));
        while let Some((index, result, lines)) = runs.next().await {
            on_file(&result);
            coverage.add(lines);
            results.push((index, result));
        }
        results.sort_by_key(|(index, _)| *index);
        let results = results.into_iter().map(|(_, result)| result).collect();
        (results, coverage)
    }

    async fn run_file(&self, file: &Path) -> (FileResult, Vec<FileLines>) {
        let start = Instant::now();
        let shown = file.to_string_lossy().into_owned();
        let snapshot_file = Snapshots::path_for(&self.root.path().join(file));
        let prepared = self.root.module(&shown).and_then(|source| {
            let snapshots = Snapshots::load(&snapshot_file)
                .map_err(|error| format!("{}: {error}", snapshot_file.display()))?;
            Ok((source, snapshots))
        });
        let (source, snapshots) = match prepared {
            Ok(prepared) => prepared,
            Err(message) => return (unrunnable(file, message), Vec::new()),
        };
        let settings = json!({
            "timeoutMs": self.options.timeout_ms,
            "name": self.options.name,
            "update": self.options.update.as_str(),
            "allowOnly": self.options.allow_only,
            "snapshots": snapshots.texts(),
        });
        let settings = match to_raw_value(&without_nulls(settings)) {
            Ok(settings) => settings,
            Err(error) => return (unrunnable(file, error.to_string()), Vec::new()),
        };
        let host = Arc::new(TestHost::new(self.root.clone(), file.to_owned(), snapshots));
        let options = RunOptions {
            // A fair share of its own: one share never gets all the slots of a pool.
            context: Some(RunContext::local()),
            test: Some(TestSpec {
                path: shown.clone(),
                settings,
                coverage: self.options.coverage,
            }),
            ..RunOptions::default()
        };
        let script = Script {
            name: shown,
            source,
            args: Vec::new(),
        };
        let limits = *self.pool.limits();
        let mut on_event = |_: Event<'_>| {};
        let tools = stack::streamed(stack::limited(host.clone(), &limits));
        let run = self
            .pool
            .run_with(script, options, limits, tools, &mut on_event);
        let ended = match select(pin!(run), pin!(self.blocked_test(&host))).await {
            Either::Left((outcome, _)) => FileRun {
                failure: outcome.error.map(|error| failure_of_run(error, file)),
                logs: outcome.logs,
            },
            // Dropping the run kills its worker.
            Either::Right((failure, _)) => FileRun {
                failure: Some(failure),
                logs: Vec::new(),
            },
        };
        let mut state = host.take();
        let lines = std::mem::take(&mut state.coverage);
        let mut result = self.conclude(file, ended, &mut state);
        let all_passed = self.options.name.is_none()
            && result.failure.is_none()
            && result.count(Status::Skipped) == 0
            && result.count(Status::Failed) == 0;
        if !all_passed {
            result.snapshots_obsolete = 0;
        }
        let saved = state
            .snapshots
            .save(&snapshot_file, self.options.update, all_passed);
        if let Err(error) = saved {
            let message = format!("{} cannot be written: {error}", snapshot_file.display());
            result
                .failure
                .get_or_insert(TestFailure::without_location(message));
        }
        result.ms = round_millis(start.elapsed());
        (result, lines)
    }

    /// Completes when a test is over its timeout and its worker has not ended it: an endless loop
    /// blocks the worker's event loop.
    async fn blocked_test(&self, host: &TestHost) -> TestFailure {
        loop {
            (self.options.sleep)(CHECK_INTERVAL).await;
            if let Some(running) = host.running()
                && running.since.elapsed() > running.timeout.saturating_add(GRACE)
            {
                return TestFailure::without_location(format!(
                    "the test was stopped: it ran for more than {} ms without awaiting anything; \
                     look for an endless loop",
                    running.timeout.as_millis()
                ));
            }
        }
    }

    fn conclude(&self, file: &Path, ended: FileRun, state: &mut FileState) -> FileResult {
        let mut tests: Vec<TestResult> = state
            .ended
            .drain(..)
            .map(|ended| self.test_result(ended))
            .collect();
        let FileRun { mut failure, logs } = ended;
        // A limit that ends the worker fails the test that was running and those after it.
        if let (Some(running), Some(reason)) = (state.running.take(), failure.clone()) {
            tests.push(TestResult {
                ms: round_millis(running.since.elapsed()),
                status: Status::Failed,
                name: running.name.clone(),
                failure: Some(reason),
            });
            let rest = without_result(&state.planned, &tests);
            tests.extend(rest.into_iter().map(|name| TestResult {
                name,
                status: Status::Failed,
                ms: 0.0,
                failure: Some(TestFailure::without_location(format!(
                    "the test did not run: \"{}\" ended the worker of this file",
                    running.name
                ))),
            }));
            failure = None;
        }
        if tests.is_empty() && failure.is_none() && self.options.name.is_none() {
            failure = Some(TestFailure::without_location(
                "there is no test in this file; write test(\"name\", () => { ... })".to_owned(),
            ));
        }
        let mut dependencies = std::mem::take(&mut state.dependencies);
        dependencies.push(file.to_owned());
        FileResult {
            path: file.to_owned(),
            ms: 0.0,
            tests,
            failure,
            logs,
            snapshots_written: state.snapshots.written(),
            snapshots_obsolete: state.snapshots.obsolete(),
            dependencies,
        }
    }

    fn test_result(&self, ended: TestEnded) -> TestResult {
        let status = match ended.status.as_str() {
            "passed" => Status::Passed,
            "skipped" => Status::Skipped,
            "todo" => Status::Todo,
            _ => Status::Failed,
        };
        TestResult {
            name: ended.name,
            status,
            ms: ended.ms,
            failure: ended.error.map(|error| self.failure_of_test(error)),
        }
    }

    fn failure_of_test(&self, error: ThrownError) -> TestFailure {
        let stack = error.stack.unwrap_or_default();
        let location = first_location(&stack);
        TestFailure {
            code_frame: location.as_ref().and_then(|at| self.code_frame(at)),
            location,
            stack: frames(&stack),
            message: error.message,
        }
    }

    fn code_frame(&self, at: &Location) -> Option<String> {
        let source = self.root.module(&at.file).ok()?;
        code_frame::render(&source, at.line, at.column)
    }
}

fn failure_of_run(error: RunError, file: &Path) -> TestFailure {
    let location = error.line.map(|line| Location {
        file: file.to_string_lossy().into_owned(),
        line,
        column: error.column.unwrap_or(1),
    });
    let stack = error.stack.unwrap_or_default();
    TestFailure {
        message: error.message,
        code_frame: error.frame,
        location,
        stack: frames(&stack),
    }
}

/// How the run of a file ended.
struct FileRun {
    failure: Option<TestFailure>,
    logs: Vec<LogLine>,
}

/// The planned tests without a result. Several may have the same name.
fn without_result(planned: &[String], tests: &[TestResult]) -> Vec<String> {
    let mut ended: HashMap<&str, usize> = HashMap::new();
    for test in tests {
        *ended.entry(&test.name).or_default() += 1;
    }
    let mut has_ended = |name: &str| match ended.get_mut(name) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    planned
        .iter()
        .filter(|name| !has_ended(name))
        .cloned()
        .collect()
}

/// The result of a file that was not run.
fn unrunnable(file: &Path, message: String) -> FileResult {
    FileResult {
        path: file.to_owned(),
        ms: 0.0,
        tests: Vec::new(),
        failure: Some(TestFailure::without_location(message)),
        logs: Vec::new(),
        snapshots_written: 0,
        snapshots_obsolete: 0,
        dependencies: vec![file.to_owned()],
    }
}

/// Removes unset settings: the harness expects absent keys, not `null`.
fn without_nulls(mut settings: serde_json::Value) -> serde_json::Value {
    if let Some(settings) = settings.as_object_mut() {
        settings.retain(|_, value| !value.is_null());
    }
    settings
}
