//! Durable runs: the journal of a run, and the layer that answers a resumed run from it.
//!
//! A run is made durable by its journal ([`RunJournal`]): every request and its answer is appended as
//! the run goes, and the intent of a call with effects is on disk before it is sent. Resuming a run
//! executes its script again; [`Journal`] answers what is in the journal from it, in the order in
//! which the script got the answers, and forwards the rest.

mod answer_order;
mod checkpoints;
mod entry;
mod known_requests;
mod layer;
mod received;
mod run_journal;
mod settlement;
mod spec;

pub use checkpoints::MemoryCheckpoints;
pub(crate) use entry::digest_of;
pub use layer::Journal;
pub use received::receive_journaled;
pub(crate) use run_journal::unix_ms;
pub use run_journal::{
    NewRunInfo, ResumeError, RunJournal, called_tool, journaled_recording, journaled_request,
};
pub use settlement::{UnknownCall, given_up, happened, unknown_calls};
pub use spec::{DurableScript, DurableSpec};
