//! Tests of agent scripts: files are found ([`discover`]), each is run in a sandbox of its own
//! ([`Runner`]), and what came of it is told in the form that a person or a CI job wants
//! ([`report`]).
//!
//! The tests themselves are collected and run by `js/74_declare.js` to `js/77_run_tests.js`, inside the
//! sandbox. This crate is the other side: it reads the files that a test may have and writes its
//! snapshots.

mod coverage;
mod discover;
mod error;
mod folder;
mod host;
mod message;
pub mod report;
mod results;
mod runner;
mod snapshots;
mod stack;
mod watch;

pub use coverage::Coverage;
pub use discover::discover;
pub use error::TestingError;
pub use folder::Folder;
pub use results::{Failed, FileResult, Status, Summary, TestResult};
pub use runner::{Runner, RunnerOptions};
pub use snapshots::Update;
pub use watch::Watch;
