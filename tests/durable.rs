//! Durable runs: processes are killed at every place, resumed, and their effects counted.
//!
//! The ledger server appends each effect to a file and fsyncs it. 100 kills by default;
//! `PML_FAULT_KILLS=1000` makes more.

mod approvals;
mod boundaries;
mod brokers;
mod client;
mod commands;
mod disks;
mod functions;
mod kills;
mod ledger;
mod scripts;
mod server;
mod tasks;
mod workflows;
