//! The request pipeline of a run, by the mode of the run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pml_hosts::stack::{self, LiveRun};
use pml_hosts::{DryRun, Record, RecordMissing, Recording};
use pml_protocol::{ToolHost, VirtualClock};

use super::tool_source::LiveMode;

/// A host of any mode.
pub type Live = Arc<dyn ToolHost>;

/// The hosts of a run.
pub enum Pipeline {
    Live(Live),
    Replay {
        host: Live,
        clock: VirtualClock,
    },
    Record {
        host: Arc<Record<Live>>,
        clock: VirtualClock,
        file: PathBuf,
        raw: bool,
    },
    RecordMissing {
        host: Arc<RecordMissing<Live>>,
        recording: Recording,
        file: PathBuf,
        raw: bool,
    },
    DryRun(Arc<DryRun<Live>>),
}

impl Pipeline {
    /// The host that answers the script.
    pub fn host(&self) -> Arc<dyn ToolHost> {
        match self {
            Self::Live(host) => host.clone(),
            Self::Replay { host, .. } => host.clone(),
            Self::Record { host, .. } => host.clone(),
            Self::RecordMissing { host, .. } => host.clone(),
            Self::DryRun(host) => host.clone(),
        }
    }

    /// The pipeline of a run against servers.
    pub fn new(mode: LiveMode, run: LiveRun) -> Self {
        match mode {
            LiveMode::Send => Self::Live(stack::live(run)),
            LiveMode::Record { file, raw } => {
                let clock = clock_of_now();
                Self::Record {
                    host: stack::record(run, clock),
                    clock,
                    file,
                    raw,
                }
            }
            LiveMode::RecordMissing {
                file,
                recording,
                raw,
            } => Self::RecordMissing {
                host: stack::record_missing(run, recording.clone()),
                recording,
                file,
                raw,
            },
            LiveMode::DryRun(sources) => Self::DryRun(stack::dry_run(run, *sources)),
        }
    }
}

/// A virtual clock that starts now, with a seed of its own.
fn clock_of_now() -> VirtualClock {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    VirtualClock {
        seed: now.subsec_nanos(),
        time_ms: u64::try_from(now.as_millis()).unwrap_or_default(),
    }
}
