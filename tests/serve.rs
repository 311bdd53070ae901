//! `pml serve`, with third-party clients and with hostile ones.

mod approvals;
mod conformance;
pub mod driver;
mod endurance;
mod fairness;
mod foreign;
mod fuzz;
mod hostile_servers;
pub mod http;
mod http_access;
mod operate;
mod placeholders;
mod scripted;
mod scrubbed;
mod session;
mod stdio;
mod tokens;
mod workflows;
