//! How often tools are called: token buckets for everything, for each server and for tools.
//!
//! A call takes one token from every bucket that covers it, or none at all. When a bucket is
//! empty the call waits for its turn, first come first served, as long as the operator lets it;
//! past that it is refused with the time at which it would have gone through.

mod bucket;
mod config;
mod limiter;

pub use config::{Rate, RateConfig, RateError};
pub use limiter::RateLimiter;
