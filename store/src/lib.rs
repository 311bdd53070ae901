//! Durable state: runs and their journals, checkpoints and approvals, in SQLite or PostgreSQL.
//!
//! [`Store`] is what the rest of pml calls; [`RunWriter`] is the journal of one run. Values are sealed at
//! rest. A run has at most one owner: see [`Store::claim`].
//!
//! One thread per SQLite store, and one task per PostgreSQL store, writes for all runs of the process and
//! renews their leases.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod approvals;
mod backend;
mod blobs;
mod claim;
mod context;
mod error;
mod journal;
mod key;
mod lease;
mod model;
mod options;
mod owner;
mod pack;
mod postgres;
mod retention;
mod rows;
mod run_writer;
mod schema;
mod settle;
mod sql;
mod sqlite;
mod store;
mod url;
mod vault;
mod write_group;
mod write_rows;

pub use approvals::{AnswerOutcome, ApprovalFilter};
pub use claim::ClaimedRun;
pub use error::StoreError;
pub use journal::RunFilter;
pub use key::StoreKey;
pub use model::*;
pub use options::{Durability, Retention, StoreOptions};
pub use retention::Maintained;
pub use run_writer::RunWriter;
pub use settle::Settlement;
pub use store::Store;
pub use url::StoreUrl;
