//! What a file of tests says: the messages of `js/77_run_tests.js`, of what is around it, and of the
//! worker.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Message {
    /// The names of all tests, in the order in which they are going to end.
    Planned(Vec<String>),
    /// A test begins, or what comes before or after a group of them; `null` is the end of that.
    Began(Option<Began>),
    Ended(Ended),
    Snapshot(Snapshot),
    /// The path of a recording from the file of the tests; `null` is the end of it.
    UseRecording(Option<String>),
    /// The path of a module from the folder of the tests, percent-encoded.
    Module(String),
    Coverage(Vec<FileLines>),
    /// See [`pml_replay::Moment`].
    Clock(f64),
    Idle(Option<f64>),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Began {
    pub name: String,
    /// The time it may take, with what comes before and after it.
    pub timeout_ms: f64,
}

#[derive(Debug, Deserialize)]
pub struct Ended {
    pub name: String,
    pub status: String,
    pub ms: f64,
    pub fault: Option<Fault>,
}

/// What `js/55_errors.js` says of a thrown value.
#[derive(Debug, Deserialize)]
pub struct Fault {
    pub message: String,
    pub stack: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Snapshot {
    pub name: String,
    /// Set where it is new, or to be replaced.
    pub text: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct FileLines {
    pub path: String,
    pub lines: BTreeMap<u32, u64>,
}
