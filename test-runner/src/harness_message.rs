//! The messages of the test harness: `js/77_run_tests.js`, its neighbours, and the worker.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HarnessMessage {
    /// The names of all tests, in the order in which they will end.
    Planned(Vec<String>),
    /// A test or a hook of a group begins; `null` when the hook has ended.
    Began(Option<TestBegan>),
    Ended(TestEnded),
    Snapshot(SnapshotRequest),
    /// The path of a recording, relative to the test file; `null` to stop replaying.
    UseRecording(Option<String>),
    /// The path of a module, relative to the test root, percent-encoded.
    Module(String),
    Coverage(Vec<FileLines>),
    /// See [`pml_hosts::ClockMoment`].
    Clock(f64),
    Idle(Option<f64>),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestBegan {
    pub name: String,
    /// The time limit, including the hooks before and after each test.
    pub timeout_ms: f64,
}

#[derive(Debug, Deserialize)]
pub struct TestEnded {
    pub name: String,
    pub status: String,
    pub ms: f64,
    #[serde(rename = "fault")]
    pub error: Option<ThrownError>,
}

/// A thrown value, as `js/55_errors.js` describes it.
#[derive(Debug, Deserialize)]
pub struct ThrownError {
    pub message: String,
    pub stack: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct SnapshotRequest {
    pub name: String,
    /// Set if the snapshot is new or is to be replaced.
    pub text: Option<String>,
}

/// How often each line of a file ran.
#[derive(Debug, Deserialize)]
pub struct FileLines {
    pub path: String,
    pub lines: BTreeMap<u32, u64>,
}
