//! Answers that need not be asked for twice.
//!
//! Only tools the operator lists are cached, each for as long as it says: no server is trusted
//! to know which of its tools always give the same answer. The key is the tool and its arguments
//! in canonical form, so `{"a":1,"b":2}` and `{"b":2,"a":1.0}` are one question. The cache is
//! bounded by entries and by bytes, and what was used longest ago goes first.

mod config;
mod key;
mod store;

pub use config::CacheConfig;
pub use key::canonical_json;
pub use store::{CacheStats, ResultCache};
