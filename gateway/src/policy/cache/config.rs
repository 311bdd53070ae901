//! The configuration key `policy.cache`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use pml_units::HumanDuration;
use serde::{Deserialize, Serialize};

use crate::policy::globs::ToolGlob;

const MAX_ENTRIES: NonZeroUsize = NonZeroUsize::new(1000).unwrap();
const MAX_BYTES: NonZeroUsize = NonZeroUsize::new(32 * 1024 * 1024).unwrap();

/// `policy.cache`. Nothing is cached unless it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct CacheConfig {
    /// The TTL of results, by glob: `"docs:search_*": "10m"`. Where several globs match a tool, the
    /// shortest TTL counts.
    pub tools: BTreeMap<ToolGlob, HumanDuration>,
    /// The maximum number of results.
    pub max_entries: NonZeroUsize,
    /// The maximum size of all keys and results.
    pub max_bytes: NonZeroUsize,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self {
            tools: BTreeMap::new(),
            max_entries: MAX_ENTRIES,
            max_bytes: MAX_BYTES,
        }
    }
}
