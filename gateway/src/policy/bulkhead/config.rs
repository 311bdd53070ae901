//! What an operator writes about concurrency.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::policy::globs::ToolGlob;

/// Wide enough that a server which can keep up is never held back; it is there so that one stuck
/// server cannot collect calls without end.
const PER_SERVER: NonZeroU32 = NonZeroU32::new(256).unwrap();

/// `policy.concurrency`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct BulkheadConfig {
    /// Calls at once for each server, unless `servers` names it.
    pub per_server: NonZeroU32,
    /// Calls at once for single servers, by name.
    pub servers: BTreeMap<String, NonZeroU32>,
    /// Calls at once for groups of tools, by glob: `"*:write_*": 1` lets one write run at a time.
    pub tools: BTreeMap<ToolGlob, NonZeroU32>,
    /// How many calls may wait in one line before further ones are refused.
    pub queue: u32,
}

impl Default for BulkheadConfig {
    fn default() -> Self {
        Self {
            per_server: PER_SERVER,
            servers: BTreeMap::new(),
            tools: BTreeMap::new(),
            queue: 4096,
        }
    }
}
