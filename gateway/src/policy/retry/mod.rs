//! Trying again, where that is safe and helps.
//!
//! Safe: a call that never reached its server, or a tool the operator lists as idempotent. What a
//! server says about its own tools is no proof, so annotations are not asked. Helps: the delays
//! are drawn at random below a growing bound, so callers that failed together do not come back
//! together, and a budget keeps retries a small part of the traffic to a server that is down.

mod backoff;
mod budget;
mod config;
mod policy;

pub use backoff::Backoff;
pub use budget::RetryBudget;
pub use config::RetryConfig;
pub use policy::{Attempts, Failure, RetryPolicy};
