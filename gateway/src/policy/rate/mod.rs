//! Rate limits: token buckets for all calls, for each server and for groups of tools.
//!
//! A call takes one token from every bucket that covers it, or none at all. If a bucket is empty, the
//! call waits, first come first served, for at most `maxWait`. A longer wait is refused with the time
//! at which the call would have been admitted.

mod bucket;
mod config;
mod limiter;

pub use config::{Rate, RateConfig, RateError};
pub use limiter::RateLimiter;
