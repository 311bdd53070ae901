//! The embedded database: one writer thread, one connection for reads.

mod database;
mod errors;
mod job_queue;
mod open;
mod transaction;
mod writer;

pub(crate) use database::{BUSY_TIMEOUT, Sqlite};
