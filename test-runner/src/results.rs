//! What came of the tests.

use std::path::PathBuf;
use std::time::Duration;

use pml_runtime::LogLine;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Passed,
    Failed,
    Skipped,
    Todo,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestResult {
    /// With the groups it is in: `audit > reads every file`.
    pub name: String,
    pub status: Status,
    pub ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<Failed>,
}

/// Why something failed, and where.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failed {
    pub message: String,
    /// The file, the line and the column of the first frame in a file of the tests' folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// One file.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileResult {
    pub path: PathBuf,
    pub ms: f64,
    pub tests: Vec<TestResult>,
    /// The file itself went wrong: it could not be read, it threw, or a limit ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<Failed>,
    #[serde(skip)]
    pub logs: Vec<LogLine>,
    /// Snapshots that were written.
    pub snapshots_written: usize,
    /// Snapshots that no test asked for.
    pub snapshots_obsolete: usize,
    /// Every file it had a part of, from the folder of the tests: when one changes, it runs again.
    #[serde(skip)]
    pub used: Vec<PathBuf>,
}

impl FileResult {
    pub fn passed(&self) -> bool {
        self.failed.is_none() && self.count(Status::Failed) == 0
    }

    pub fn count(&self, status: Status) -> usize {
        let same = |test: &&TestResult| test.status == status;
        self.tests.iter().filter(same).count()
    }
}

/// All files together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub files: usize,
    /// Files with a failure of a test or of their own.
    pub files_failed: usize,
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    pub todo: usize,
    pub ms: f64,
}

impl Summary {
    pub fn of(files: &[FileResult], took: Duration) -> Self {
        let count = |status| files.iter().map(|file| file.count(status)).sum();
        Self {
            files: files.len(),
            files_failed: files.iter().filter(|file| !file.passed()).count(),
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            skipped: count(Status::Skipped),
            todo: count(Status::Todo),
            ms: (took.as_secs_f64() * 10_000.0).round() / 10.0,
        }
    }

    pub fn ok(&self) -> bool {
        self.files_failed == 0
    }
}
