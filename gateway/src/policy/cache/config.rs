//! The configuration key `policy.cache`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use pml_units::{ByteSize, HumanDuration};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use crate::policy::globs::ToolGlob;

const MAX_ENTRIES: NonZeroUsize = NonZeroUsize::new(1000).unwrap();
const MAX_BYTES: ByteSize = ByteSize::from_mebibytes(32);

/// `policy.cache`. Nothing is cached unless it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct CacheConfig {
    /// The TTL of results, by glob: `"docs:search_*": "10m"`. Where several globs match a tool, the
    /// shortest TTL counts.
    pub tools: BTreeMap<ToolGlob, HumanDuration>,
    /// The maximum number of results.
    pub max_entries: NonZeroUsize,
    /// The maximum size of all keys and results, at least one byte.
    #[serde(deserialize_with = "non_zero")]
    pub max_bytes: ByteSize,
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

fn non_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ByteSize, D::Error> {
    let size = ByteSize::deserialize(deserializer)?;
    size.non_zero().map_err(D::Error::custom)
}
