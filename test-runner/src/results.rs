//! The results of tests. Their serialized form is the `json` report.

use std::path::PathBuf;
use std::time::Duration;

use pml_protocol::LogLine;
use serde::Serialize;

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It returned.
    Passed,
    /// It threw, or a limit ended it.
    Failed,
    /// It was not run: `test.skip`, or another test is marked `only`.
    Skipped,
    /// It has no body yet: `test.todo`.
    Todo,
}

/// The result of one test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestResult {
    /// The full name, with its groups: `audit > reads every file`.
    pub name: String,
    /// How it ended.
    pub status: Status,
    /// Its duration in milliseconds.
    pub ms: f64,
    /// Why it failed.
    #[serde(rename = "failed", skip_serializing_if = "Option::is_none")]
    pub failure: Option<TestFailure>,
}

/// Why a test or a file failed, and where.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestFailure {
    /// The message of the error, with a diff if it is of an assertion.
    pub message: String,
    /// The first stack frame in a file below the test root.
    #[serde(rename = "place", skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// The code frame at that location.
    #[serde(rename = "frame", skip_serializing_if = "Option::is_none")]
    pub code_frame: Option<String>,
    /// The stack trace without the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

impl TestFailure {
    /// A failure without a location.
    pub(crate) fn without_location(message: String) -> Self {
        Self {
            message,
            location: None,
            code_frame: None,
            stack: None,
        }
    }
}

/// A location in a source file. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The path relative to the test root.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// The result of one test file.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileResult {
    /// The path relative to the test root.
    pub path: PathBuf,
    /// Its duration in milliseconds.
    pub ms: f64,
    /// Its tests, in the order in which they ended.
    pub tests: Vec<TestResult>,
    /// Why the file itself failed: it could not be read, it threw, or a limit ended it.
    #[serde(rename = "failed", skip_serializing_if = "Option::is_none")]
    pub failure: Option<TestFailure>,
    /// Its console.
    #[serde(skip)]
    pub logs: Vec<LogLine>,
    /// The number of snapshots that were written.
    pub snapshots_written: usize,
    /// The number of snapshots that no test compares with.
    pub snapshots_obsolete: usize,
    /// The files that its result depends on, relative to the test root: itself, what it imports, and
    /// its recordings.
    #[serde(skip)]
    pub dependencies: Vec<PathBuf>,
}

impl FileResult {
    /// Whether neither the file nor any of its tests failed.
    pub fn passed(&self) -> bool {
        self.failure.is_none() && self.count(Status::Failed) == 0
    }

    /// The number of tests with this status.
    pub fn count(&self, status: Status) -> usize {
        let same = |test: &&TestResult| test.status == status;
        self.tests.iter().filter(same).count()
    }
}

/// The totals of all files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The number of files.
    pub files: usize,
    /// The number of files that did not pass.
    pub files_failed: usize,
    /// The number of tests that passed.
    pub passed: usize,
    /// The number of tests that failed.
    pub failed: usize,
    /// The number of tests that were skipped.
    pub skipped: usize,
    /// The number of tests without a body.
    pub todo: usize,
    /// The duration of everything in milliseconds.
    pub ms: f64,
}

impl Summary {
    /// The totals of `files`, which took `elapsed` together.
    pub fn of(files: &[FileResult], elapsed: Duration) -> Self {
        let count = |status| files.iter().map(|file| file.count(status)).sum();
        Self {
            files: files.len(),
            files_failed: files.iter().filter(|file| !file.passed()).count(),
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            skipped: count(Status::Skipped),
            todo: count(Status::Todo),
            ms: round_millis(elapsed),
        }
    }

    /// Whether every file passed.
    pub fn ok(&self) -> bool {
        self.files_failed == 0
    }
}

/// Milliseconds with one decimal place.
pub(crate) fn round_millis(elapsed: Duration) -> f64 {
    (elapsed.as_secs_f64() * 10_000.0).round() / 10.0
}
