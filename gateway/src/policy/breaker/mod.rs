//! Leaving a failing server alone for a while.
//!
//! One breaker stands before each server. While it is *closed* calls pass and their ends are
//! counted over a sliding window. When too many of them fail, or are too slow, it *opens* and
//! refuses calls at once, which spares the server and the script's time. After a while it is
//! *half open*: a few calls pass as probes, and they decide whether it closes or opens for
//! longer.
//!
//! Only the server's health counts. A tool that answers with an error of its own (`isError`) is
//! a tool that works.

mod circuit;
mod config;
mod window;

pub use circuit::{BreakerState, Breakers, Outcome, Ticket};
pub use config::BreakerConfig;
