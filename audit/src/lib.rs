//! An append-only log of what agents did: CloudEvents 1.0 in a Merkle tree with signed checkpoints.
//!
//! A log is a folder in the form of C2SP tlog-tiles: entry bundles and hash tiles of 256, and a
//! checkpoint, which is a signed note (Ed25519) over the size and the root of the tree. A changed,
//! removed or reordered entry changes the root.
//!
//! ```
//! use pml_audit::{AuditLog, Event, LogOptions, verify_folder};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! let log = AuditLog::open(folder.path(), LogOptions::default())?;
//! log.append(&Event::new("pml.run.ended", &serde_json::json!({ "ok": true })))?;
//! log.close();
//! assert!(verify_folder(folder.path(), &[])?.is_whole());
//! # Ok::<(), pml_audit::AuditError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod bundle;
mod checkpoint;
mod cursor;
mod error;
mod event;
mod files;
mod folder;
mod hash;
mod log;
mod note;
mod proof;
mod query;
mod reconcile;
mod recover;
mod retention;
mod sealer;
mod shipping;
mod sink;
mod sink_gate;
mod tile;
mod timestamp;
mod tree;
mod verify;
mod writer;

pub use checkpoint::Checkpoint;
pub use error::AuditError;
pub use event::{Actor, Event, digest};
pub use folder::{AuditFolder, verify_folder};
pub use hash::{Hash, leaf_hash};
pub use log::{AuditLog, LogOptions};
pub use note::{SignedNote, SigningKey, VerifyingKey};
pub use proof::{Proof, ProofError, verify_consistency, verify_inclusion};
pub use query::{Filter, LogEntry};
pub use reconcile::{JournaledCalls, MissingCalls, OpenIntent, Reconciled, reconcile};
pub use retention::Retention;
pub use shipping::Shipping;
pub use sink::{HttpSink, Sink, SinkTarget, WhileAway};
pub use sink_gate::SinkGate;
pub use timestamp::{parse_timestamp, timestamp};
pub use verify::{Damage, Verified, VerifiedLog};
