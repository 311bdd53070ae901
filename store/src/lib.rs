//! Durable state: runs and their journals, checkpoints and approvals, in SQLite or PostgreSQL.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod model;

pub use model::*;
