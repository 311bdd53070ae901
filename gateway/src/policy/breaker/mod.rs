//! Circuit breakers, one per server.
//!
//! While a breaker is *closed*, calls pass and their outcomes are counted over a sliding window. When
//! too many calls fail or are too slow, it *opens* and refuses calls at once, which spares the server
//! and the script's time. After a while it is *half open*: a few calls pass as probes, and they decide
//! whether it closes or opens for longer.
//!
//! Only the server's health counts. An error of the tool itself (`isError`) is not a failure.

mod circuit;
mod config;
mod window;

pub use circuit::{BreakerState, Breakers, Outcome, Ticket};
pub use config::BreakerConfig;
