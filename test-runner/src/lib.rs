//! Runs test files of agent scripts: finds them ([`discover`]), runs each in a worker of its own
//! ([`Runner`]), and formats the results for a terminal, a CI job or a program ([`report`]).
//!
//! `js/74_declare.js` to `js/77_run_tests.js` collect and run the tests inside the sandbox. This crate
//! answers their requests: it reads the files that a test may import, replays recordings and writes
//! snapshots. It uses only the broker half of `pml-runtime`, without V8.
//!
//! ```no_run
//! use std::path::Path;
//! use pml_runtime::{Pool, PoolOptions};
//! use pml_test_runner::{Runner, RunnerOptions, SleepFn, SnapshotUpdate, TestRoot, discover};
//!
//! # async fn example(sleep: SleepFn) -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::new(PoolOptions::new()?);
//! let root = TestRoot::new(Path::new("."))?;
//! let files = discover(root.path(), &[])?;
//! let options = RunnerOptions {
//!     timeout_ms: 5_000,
//!     name: None,
//!     update: SnapshotUpdate::New,
//!     allow_only: true,
//!     coverage: false,
//!     jobs: 2,
//!     // The timer of the program's event loop.
//!     sleep,
//! };
//! let (results, _) = Runner::new(&pool, root, options).run(&files, |_| {}).await;
//! println!("{} of {} files passed", results.iter().filter(|file| file.passed()).count(), files.len());
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod coverage;
mod discover;
mod file_watcher;
mod harness_message;
pub mod report;
mod results;
mod runner;
mod snapshots;
mod stack_trace;
mod test_host;
mod test_root;

pub use coverage::Coverage;
pub use discover::{DiscoveryError, discover};
pub use file_watcher::FileWatcher;
pub use results::{FileResult, Location, Status, Summary, TestFailure, TestResult};
pub use runner::{Runner, RunnerOptions, SleepFn};
pub use snapshots::SnapshotUpdate;
pub use test_root::TestRoot;
