//! Retries, where they are safe and useful.
//!
//! Safe: the call never reached its server, or its effect class ([`crate::effects`]) says that it may
//! be repeated. Useful: delays are random below a growing bound
//! (full jitter), so callers that failed together do not retry together, and a budget keeps retries
//! a small part of the traffic to a server that is down.

mod backoff;
mod budget;
mod config;
mod policy;

pub use backoff::Backoff;
pub use budget::RetryBudget;
pub use config::RetryConfig;
pub use policy::{Attempts, Failure, RetryPolicy};
