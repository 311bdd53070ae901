//! The result cache.
//!
//! Only tools that the operator lists are cached, each with its own TTL: the annotations of servers
//! are not trusted for this. The key is the tool and its arguments as canonical JSON, so
//! `{"a":1,"b":2}` and `{"b":2,"a":1.0}` have one entry. The cache is bounded by entries and by bytes,
//! with LRU eviction. A restart or a changed tool list discards the results of a server.

mod config;
mod key;
mod store;

pub use config::CacheConfig;
pub use key::canonical_json;
pub use store::{CacheStats, ResultCache};
