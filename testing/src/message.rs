//! What a file of tests says: the messages of `js/74_tests.js` and of the worker.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Message {
    /// A test begins.
    Began(String),
    Ended(Ended),
    Snapshot(Snapshot),
    /// The path of a recording from the file of the tests; `null` is the end of it.
    UseRecording(Option<String>),
    /// The path of a module from the folder of the tests, percent-encoded.
    Module(String),
    Coverage(Vec<FileLines>),
}

#[derive(Debug, Deserialize)]
pub struct Ended {
    pub name: String,
    pub status: String,
    pub ms: f64,
    pub fault: Option<Fault>,
}

/// What `js/55_fault.js` says of a thrown value.
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
