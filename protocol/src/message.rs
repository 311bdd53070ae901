//! The messages between broker and worker. Both are the same binary, so the format has no version.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::host::ToolResult;
use crate::limits::Limits;
use crate::log::Level;
use crate::outcome::{RunError, Stats};
use crate::prefetch::PrefetchPlan;
use crate::request::Request;
use crate::virtual_clock::{TimerMode, VirtualClock};

/// What a log line costs besides its text, in messages and in memory: empty lines are not free.
pub const LOG_LINE_COST: u64 = 32;

/// A message to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker {
    /// The script to run. A worker runs one.
    Run(Box<RunSpec>),
    /// The answer to a request.
    Answer {
        /// The number of the request.
        id: u32,
        /// Its result.
        answer: ToolResult,
    },
    /// Stops the clock of the time limit while a person is asked, or lets it run on.
    Clock {
        /// Whether the clock stands.
        stopped: bool,
    },
}

/// A message from a worker. The broker trusts none of them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromWorker {
    /// V8 is up and the walls stand, as far as this kernel supports them.
    Ready {
        /// Walls that the kernel does not support.
        missing_walls: Vec<String>,
    },
    /// The script is JavaScript now. A worker that dies before this died of parsing.
    Parsed {
        /// How long that took.
        micros: u64,
        /// The calls that the script will make, if the run asked for them.
        #[serde(default, skip_serializing_if = "PrefetchPlan::is_empty")]
        plan: PrefetchPlan,
    },
    /// A request of the script.
    Ask {
        /// The worker's number for it.
        id: u32,
        /// What is asked.
        request: Request,
    },
    /// A line of the console.
    Log {
        /// The method that wrote it.
        level: Level,
        /// The formatted arguments.
        text: String,
    },
    /// A limit was crossed and V8 is being terminated. If no report follows, the worker hangs.
    Stopping(Box<RunError>),
    /// The run has ended.
    Done(Box<Report>),
}

/// A script and all that its worker needs to know to run it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunSpec {
    /// The file name that appears in stack traces.
    pub name: String,
    /// TypeScript or JavaScript.
    pub source: String,
    /// What the script sees as `args`.
    pub args: Vec<String>,
    /// How much the run may use.
    pub limits: Limits,
    /// Run it even where the kernel does not support every wall.
    pub allow_missing_walls: bool,
    /// The deterministic clock and randomness; `None` for the real ones.
    #[serde(rename = "world")]
    pub clock: Option<VirtualClock>,
    /// The secret that `crypto` draws from in a durable run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<[u8; 32]>,
    /// What timers do on a virtual clock.
    #[serde(rename = "sleep")]
    pub timers: TimerMode,
    /// Whether the worker sends the calls that the script will make.
    #[serde(default)]
    pub prefetch: bool,
    /// Set for a test file: it may import `pml/test`, and files beside it.
    pub test: Option<TestSpec>,
}

/// What a test file has besides a script.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TestSpec {
    /// The file, relative to the folder that its imports stay in: `audit/audit.test.ts`.
    pub path: String,
    /// For `js/77_run_tests.js`: time limits, names, snapshots.
    pub settings: Box<RawValue>,
    /// Whether to record line coverage.
    pub coverage: bool,
}

/// The result of a script. An `Option` would not do: `null` is a result, and travels as `null` too.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Returned {
    /// `undefined`, or nothing at all.
    Nothing,
    /// A value.
    Json(Box<RawValue>),
}

impl From<Returned> for Option<Box<RawValue>> {
    fn from(returned: Returned) -> Self {
        match returned {
            Returned::Nothing => None,
            Returned::Json(json) => Some(json),
        }
    }
}

/// The end of a run, as its worker saw it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// The script's result, or why it has none.
    pub result: Result<Returned, RunError>,
    /// What the run used.
    pub stats: Stats,
}
