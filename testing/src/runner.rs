//! Runs files of tests, several at once, each in a worker of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream;
use pml_runtime::{Limits, Outcome, Pool, RunError, RunOptions, Script, TestSpec};
use serde_json::json;
use serde_json::value::to_raw_value;

use crate::coverage::Coverage;
use crate::folder::Folder;
use crate::host::{State, TestHost};
use crate::message::{Ended, Fault};
use crate::results::{Failed, FileResult, Place, Status, TestResult};
use crate::snapshots::{Snapshots, Update};

#[derive(Debug, Clone)]
pub struct RunnerOptions {
    /// For one test, unless it says otherwise.
    pub timeout_ms: u64,
    /// Only tests whose full name contains this.
    pub name: Option<String>,
    pub update: Update,
    pub coverage: bool,
    /// Files at the same time.
    pub jobs: usize,
}

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
        let outcome = self
            .pool
            .run_with(script, options, limits, host.clone(), &mut |_| {})
            .await;
        let mut state = host.take();
        let lines = std::mem::take(&mut state.coverage);
        let mut result = self.conclude(file, outcome, &mut state);
        let whole = self.options.name.is_none()
            && result.failed.is_none()
            && result.count(Status::Skipped) == 0;
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

    fn conclude(&self, file: &Path, outcome: Outcome, state: &mut State) -> FileResult {
        let mut tests: Vec<TestResult> = state
            .ended
            .drain(..)
            .map(|ended| self.test_result(ended))
            .collect();
        let mut failed = outcome.error.map(|error| self.explain_run(error, file));
        // A limit that ends the process ends the test that ran into it.
        if let (Some(name), Some(reason)) = (state.running.take(), failed.clone()) {
            tests.push(TestResult {
                name,
                status: Status::Failed,
                ms: outcome.stats.wall_ms,
                failed: Some(reason),
            });
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
            logs: outcome.logs,
            snapshots_written: state.snapshots.written(),
            snapshots_obsolete: match self.options.name {
                None => state.snapshots.obsolete(),
                Some(_) => 0,
            },
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

const ADDRESS: &str = "file:///";

/// `…file:///dir/a.test.ts:3:7…` of the first frame.
fn first_place(stack: &str) -> Option<Place> {
    stack
        .lines()
        .filter(|line| line.starts_with("    at "))
        .find_map(|line| {
            let address = line.rsplit_once(ADDRESS)?.1.trim_end_matches(')');
            let (rest, column) = address.rsplit_once(':')?;
            let (file, line) = rest.rsplit_once(':')?;
            let file = file.split('?').next().unwrap_or(file);
            Some(Place {
                file: file.to_owned(),
                line: line.parse().ok()?,
                column: column.parse().ok()?,
            })
        })
}

/// The frames of a stack without the message, with paths instead of addresses.
fn frames(stack: &str) -> Option<String> {
    let frames: Vec<String> = stack
        .lines()
        .filter(|line| line.starts_with("    at "))
        .map(|line| line.replace(ADDRESS, "").replace("?script", ""))
        .collect();
    (!frames.is_empty()).then(|| frames.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_failure_is_its_first_frame_in_a_file() {
        let stack = "AssertionError: x\n    at new Promise (<anonymous>)\n    \
            at check (file:///deep/a.ts?script:12:7)\n    at file:///a.test.ts:3:1";
        let place = Place {
            file: "deep/a.ts".to_owned(),
            line: 12,
            column: 7,
        };
        assert_eq!(first_place(stack), Some(place));
        let shown = frames(stack).unwrap();
        assert!(shown.contains("at check (deep/a.ts:12:7)"), "{shown}");
        assert_eq!(first_place("Error: at home"), None);
    }
}
