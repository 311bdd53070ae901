//! The policy of the operator: tool filter, approval, rate limits, bulkheads, retries, circuit
//! breakers, result cache and run budgets.
//!
//! Each part is usable by itself. [`Policy`] holds one of each and applies them in the order that
//! wastes least.

mod admission;
pub mod approval;
pub mod breaker;
pub mod budget;
pub mod bulkhead;
pub mod cache;
mod call_limits;
mod config;
pub mod globs;
pub mod rate;
mod ratio;
mod refusal;
pub mod retry;

pub use admission::{Admission, Policy};
pub use call_limits::CallLimits;
pub use config::PolicyConfig;
pub use ratio::{Ratio, RatioError};
pub use refusal::{Refusal, RefusalKind};
