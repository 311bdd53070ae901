//! The request pipeline: hosts that answer a script's requests, and layers around them.
//!
//! A host is a [`pml_protocol::ToolHost`]. [`stack`] puts the layers of a run against the gateway in
//! their order. [`Replay`] answers from a recording and [`StaticHost`] from Rust functions; both need
//! no server.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod approval;
mod approve;
mod arguments;
mod audit;
mod bounded_read;
mod call_costs;
mod call_memory;
mod call_timeout;
mod concurrency_limit;
mod dry_run;
#[cfg(test)]
mod durable_stack_tests;
mod error;
mod example_value;
mod fixtures;
mod function_bounds;
mod function_runs;
mod gateway_host;
mod intents;
pub mod journal;
mod json_diff;
mod nearest_request;
mod observe;
mod observe_script;
mod observed_shapes;
mod own_clock;
mod reconcile;
mod record;
mod record_missing;
mod recorded_answers;
mod recorded_request;
mod recording;
mod refuse_suspended;
mod replay;
mod replay_clock;
mod resolve_spelling;
mod route;
mod run_calls;
mod run_placeholders;
mod run_span;
mod scrub_recording;
mod shown_call;
mod speculation;
pub mod stack;
#[cfg(test)]
mod stack_tests;
mod static_host;
mod storage;
mod stored_approvals;
mod stream_pieces;
mod streams;
mod time_limit;
mod timer_gate;
mod trace;
mod track_labels;
mod unsupported;
mod visible_text;

pub use approval::{ApprovalRequest, Approver, CannotAsk, Decision, DecisionFuture, ShownCall};
pub use approve::{Approve, IfUnasked, Person};
pub use audit::{AnsweredBy, Audit, AuditTrail, PendingCall, RunEnd, ShowValue};
pub use call_costs::CallCosts;
pub use call_timeout::CallTimeout;
pub use concurrency_limit::ConcurrencyLimit;
pub use dry_run::{AnswerSource, AnswerSources, DryRun, PlannedCall, ResultSchemas};
pub use error::ReplayError;
pub use example_value::example_of;
pub use fixtures::Fixtures;
pub use function_runs::FunctionRuns;
pub use gateway_host::failure as call_failure;
pub use observe::{CallObserver, EndedCall, Observe};
pub use observe_script::{ReturnedCall, ScriptObserver};
pub use observed_shapes::ObservedShapes;
pub use own_clock::OwnClock;
pub use record::Record;
pub use record_missing::RecordMissing;
pub use recorded_request::RecordedRequest;
pub use recording::{Entry, RecordedAnswer, Recording};
pub use refuse_suspended::RefuseSuspended;
pub use replay::Replay;
pub use replay_clock::ClockMoment;
pub use route::{RouteSearch, StoreValues};
pub use run_calls::{CallsOfRun, MadeCall, RunCalls};
pub use run_placeholders::RunPlaceholders;
pub use run_span::RunSpan;
pub use speculation::{SpeculatedCalls, Speculator};
pub use static_host::StaticHost;
pub use storage::{Provenance, SessionStorage, StorageError};
pub use streams::Streams;
pub use trace::Trace;
