//! The vocabulary that every part of pml shares: what a script asks for ([`Request`]), what it gets
//! ([`ToolResult`]), who answers ([`ToolHost`]), how much a run may use ([`Limits`]), how it ends
//! ([`Outcome`]), and the messages that broker and worker exchange ([`message`], [`framing`]).
//!
//! The crate knows nothing of V8, swc, sockets or files, so a crate that handles requests does not
//! have to link any of them.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod call_notes;
mod effect;
mod failure;
mod fair_share;
mod flow;
pub mod framing;
mod guard_note;
mod hint;
mod host;
mod label;
mod limits;
mod log;
mod made_calls;
pub mod message;
mod outcome;
mod prefetch;
mod request;
mod run_context;
mod run_control;
mod run_id;
mod trace_context;
mod virtual_clock;

pub use call_notes::CallNotes;
pub use effect::EffectClass;
pub use failure::{Failure, FailureKind};
pub use fair_share::FairShareKey;
pub use flow::{Crossing, Flow, LabelReport, RunFlow};
pub use guard_note::{GuardNote, GuardVerdict};
pub use hint::Hint;
pub use host::{HostFuture, ToolHit, ToolHost, ToolResult, to_result};
pub use label::Label;
pub use limits::{Limits, RequestedLimits};
pub use log::{Level, LogLine};
pub use made_calls::{MadeCall, MadeCalls};
pub use message::TestSpec;
pub use outcome::{
    CallRecord, ErrorKind, Outcome, RunError, SpeculationStats, Stats, Truncated, millis,
};
pub use prefetch::{
    PrefetchPlan, PrefetchStep, PrefetchValue, Speculate, SpeculatedCall, Speculation,
};
pub use request::{Request, ResourceRequest, StreamRequest, Target, split_version};
pub use run_context::{
    CallProgress, PauseGuard, Principal, ProgressReceiver, RequestKey, RunClock, RunContext,
    SessionId, TenantId,
};
pub use run_control::{ControlState, RunControl, SuspendGuard};
pub use run_id::{InvalidRunId, RunId};
pub use trace_context::{SpanId, TraceContext, TraceId};
pub use virtual_clock::{TimerMode, VirtualClock};
