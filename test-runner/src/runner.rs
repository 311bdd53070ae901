//! Runs files of tests, several at once, each in a worker of its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream;
use pml_runtime::{Event, Limits, LogLine, Party, Pool, RunError, RunOptions, Script, TestSpec};
use serde_json::json;
use serde_json::value::to_raw_value;

use crate::coverage::Coverage;
use crate::folder::Folder;
use crate::host::{State, TestHost};
use crate::message::{Ended, Fault};
use crate::results::{Failed, FileResult, Place, Status, TestResult};
use crate::snapshots::{Snapshots, Update};
use crate::stack::{first_place, frames};

#[derive(Debug, Clone)]
pub struct RunnerOptions {
    /// For one test, unless it says otherwise.
    pub timeout_ms: u64,
    /// Only tests whose full name contains this.
    pub name: Option<String>,
    pub update: Update,
    /// Whether a test may be marked `only`; in CI that would hide the others.
    pub allow_only: bool,
    pub coverage: bool,
    /// Files at the same time.
    pub jobs: usize,
    /// Waits for so long: this crate has no event loop of its own.
    pub sleep: Sleep,
}

pub type Sleep = fn(Duration) -> Pin<Box<dyn Future<Output = ()>>>;

/// How often a test is looked at that may hang.
const LOOK: Duration = Duration::from_millis(250);
/// What a worker gets beyond the time of a test to end it itself.
const GRACE: Duration = Duration::from_secs(1);

pub struct Runner<'p> {
    pool: &'p Pool,
    folder: Folder,
    options: RunnerOptions,
}

impl<'p> Runner<'p> {
    pub fn new(pool: &'p Pool, folder: Folder, options: RunnerOptions) -> Self {
        Self {
            pool,
            folder,
            options,
        }
    }

    /// Runs the files; `on_file` hears of each as it ends. The results stand in the order of the
    /// files.
    pub async fn run(
        &self,
        files: &[PathBuf],
        mut on_file: impl FnMut(&FileResult),
    ) -> (Vec<FileResult>, Coverage) {
        let mut coverage = Coverage::default();
        let mut results: Vec<(usize, FileResult)> = Vec::with_capacity(files.len());
        let runs = files.iter().enumerate().map(|(place, file)| async move {
            let (result, lines) = self.run_file(file).await;
            (place, result, lines)
        });
        let mut runs = stream::iter(runs).buffer_unordered(self.options.jobs.max(1));
        while let Some((place, result, lines)) = runs.next().await {
            on_file(&result);
            coverage.add(lines);
            results.push((place, result));
        }
        results.sort_by_key(|(place, _)| *place);
        let results = results.into_iter().map(|(_, result)| result).collect();
        (results, coverage)
    }

    async fn run_file(&self, file: &Path) -> (FileResult, Vec<crate::message::FileLines>) {
        let began = Instant::now();
        let shown = file.to_string_lossy().into_owned();
        let snapshot_file = Snapshots::file_of(&self.folder.path().join(file));
        let prepared = self.folder.module(&shown).and_then(|source| {
            let snapshots = Snapshots::load(&snapshot_file)
                .map_err(|error| format!("{}: {error}", snapshot_file.display()))?;
            Ok((source, snapshots))
        });
        let (source, snapshots) = match prepared {
            Ok(prepared) => prepared,
            Err(message) => return (unreadable(file, message), Vec::new()),
        };
        let settings = json!({
            "timeoutMs": self.options.timeout_ms,
            "name": self.options.name,
            "update": self.options.update.as_str(),
            "allowOnly": self.options.allow_only,
            "snapshots": snapshots.texts(),
        });
        let settings = match to_raw_value(&without_nothing(settings)) {
            Ok(settings) => settings,
            Err(error) => return (unreadable(file, error.to_string()), Vec::new()),
        };
        let host = Arc::new(TestHost::new(
            self.folder.clone(),
            file.to_owned(),
            snapshots,
        ));
        let options = RunOptions {
            // A party of its own: one never gets all the slots of a pool.
            party: Some(Party::new()),
            test: Some(TestSpec {
                path: shown.clone(),
                settings,
                coverage: self.options.coverage,
            }),
            ..RunOptions::default()
        };
        let script = Script {
            name: shown,
            source: source.clone(),
            args: Vec::new(),
        };
        let limits: Limits = *self.pool.limits();
        let mut on_event = |_: Event<'_>| {};
        let run = self
            .pool
            .run_with(script, options, limits, host.clone(), &mut on_event);
        let end = match select(pin!(run), pin!(self.overrun(&host))).await {
            Either::Left((outcome, _)) => End {
                failed: outcome.error.map(|error| self.explain_run(error, file)),
                logs: outcome.logs,
            },
            // With the run its worker goes.
            Either::Right((failed, _)) => End {
                failed: Some(failed),
                logs: Vec::new(),
            },
        };
        let mut state = host.take();
        let lines = std::mem::take(&mut state.coverage);
        let mut result = self.conclude(file, end, &mut state);
        let whole = self.options.name.is_none()
            && result.failed.is_none()
            && result.count(Status::Skipped) == 0
            && result.count(Status::Failed) == 0;
        if !whole {
            result.snapshots_obsolete = 0;
        }
        let saved = state
            .snapshots
            .save(&snapshot_file, self.options.update, whole);
        if let Err(error) = saved {
            let message = format!("{} cannot be written: {error}", snapshot_file.display());
            result.failed.get_or_insert(plain(message));
        }
        result.ms = millis(began);
        (result, lines)
    }

    /// Returns when a test has taken longer than it may and its worker does not end it: a loop
    /// that never ends leaves it no time to.
    async fn overrun(&self, host: &TestHost) -> Failed {
        loop {
            (self.options.sleep)(LOOK).await;
            if let Some(running) = host.running()
                && running.since.elapsed() > running.allowed.saturating_add(GRACE)
            {
                return plain(format!(
                    "it took longer than {} ms without ever waiting, and was ended; \
                     is there a loop that does not end?",
                    running.allowed.as_millis()
                ));
            }
        }
    }

    fn conclude(&self, file: &Path, end: End, state: &mut State) -> FileResult {
        let mut tests: Vec<TestResult> = state
            .ended
            .drain(..)
            .map(|ended| self.test_result(ended))
            .collect();
        let End { mut failed, logs } = end;
        // What ends the process ends the test that ran into it, and leaves others behind.
        if let (Some(running), Some(reason)) = (state.running.take(), failed.clone()) {
            tests.push(TestResult {
                ms: millis(running.since),
                status: Status::Failed,
                name: running.name.clone(),
                failed: Some(reason),
            });
            let rest = missing(&state.planned, &tests);
            tests.extend(rest.into_iter().map(|name| TestResult {
                name,
                status: Status::Failed,
                ms: 0.0,
                failed: Some(plain(format!(
                    "it did not run: \"{}\" ended the worker of this file",
                    running.name
                ))),
            }));
            failed = None;
        }
        if tests.is_empty() && failed.is_none() && self.options.name.is_none() {
            failed = Some(plain(
                "there is no test in this file; write test(\"name\", () => { ... })".to_owned(),
            ));
        }
        let mut used = std::mem::take(&mut state.used);
        used.push(file.to_owned());
        FileResult {
            path: file.to_owned(),
            ms: 0.0,
            tests,
            failed,
            logs,
            snapshots_written: state.snapshots.written(),
            snapshots_obsolete: state.snapshots.obsolete(),
            used,
        }
    }

    fn test_result(&self, ended: Ended) -> TestResult {
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
            failed: ended.fault.map(|fault| self.explain(fault)),
        }
    }

    fn explain(&self, fault: Fault) -> Failed {
        let stack = fault.stack.unwrap_or_default();
        let place = first_place(&stack);
        Failed {
            frame: place.as_ref().and_then(|place| self.frame(place)),
            place,
            stack: frames(&stack),
            message: fault.message,
        }
    }

    fn explain_run(&self, error: RunError, file: &Path) -> Failed {
        let place = error.line.map(|line| Place {
            file: file.to_string_lossy().into_owned(),
            line,
            column: error.column.unwrap_or(1),
        });
        let stack = error.stack.unwrap_or_default();
        Failed {
            message: error.message,
            frame: error.frame,
            place,
            stack: frames(&stack),
        }
    }

    fn frame(&self, place: &Place) -> Option<String> {
        let source = self.folder.module(&place.file).ok()?;
        pml_runtime::frame::render(&source, place.line, place.column)
    }
}

/// How the run of a file ended.
struct End {
    /// Why it did not end well.
    failed: Option<Failed>,
    logs: Vec<LogLine>,
}

/// The tests that were planned and have no result. Several may have the same name.
fn missing(planned: &[String], tests: &[TestResult]) -> Vec<String> {
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

fn unreadable(file: &Path, message: String) -> FileResult {
    FileResult {
        path: file.to_owned(),
        ms: 0.0,
        tests: Vec::new(),
        failed: Some(plain(message)),
        logs: Vec::new(),
        snapshots_written: 0,
        snapshots_obsolete: 0,
        used: vec![file.to_owned()],
    }
}

fn plain(message: String) -> Failed {
    Failed {
        message,
        place: None,
        frame: None,
        stack: None,
    }
}

/// A setting that is not set is absent, not `null`.
fn without_nothing(mut settings: serde_json::Value) -> serde_json::Value {
    if let Some(settings) = settings.as_object_mut() {
        settings.retain(|_, value| !value.is_null());
    }
    settings
}

fn millis(began: Instant) -> f64 {
    (began.elapsed().as_secs_f64() * 10_000.0).round() / 10.0
}
