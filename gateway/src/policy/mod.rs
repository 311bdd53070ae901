//! What stands between a script's call and the server: who may be called, how often, how many at
//! once, again, at all, and at what cost.
//!
//! Each part is usable by itself. [`Policy`] holds one of each and takes a call through them in
//! the order that wastes least.

mod admission;
pub mod approval;
pub mod breaker;
pub mod budget;
pub mod bulkhead;
pub mod cache;
mod config;
pub mod globs;
pub mod rate;
mod ratio;
mod refusal;
pub mod retry;

pub use admission::{Admission, Policy};
pub use config::PolicyConfig;
pub use ratio::{Ratio, RatioError};
pub use refusal::{Refusal, RefusalKind};
