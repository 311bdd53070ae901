//! The configuration key `policy.concurrency`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::policy::globs::ToolGlob;

/// High enough never to limit a server that keeps up; it bounds the calls that a stuck server can
/// collect.
const PER_SERVER: NonZeroU32 = NonZeroU32::new(256).unwrap();

/// `policy.concurrency`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct BulkheadConfig {
    /// Concurrent calls of each server, unless `servers` names it.
    pub per_server: NonZeroU32,
    /// Concurrent calls of single servers, by name.
    pub servers: BTreeMap<String, NonZeroU32>,
    /// Concurrent calls of groups of tools, by glob: `"*:write_*": 1` lets one write run at a time.
    pub tools: BTreeMap<ToolGlob, NonZeroU32>,
    /// Concurrent calls of each principal, unless `principals` names it.
    pub per_principal: Option<NonZeroU32>,
    /// Concurrent calls of single principals: `ci`, or `acme/ci` for a tenant of its own.
    pub principals: BTreeMap<String, NonZeroU32>,
    /// The length of each queue; further calls are refused.
    pub queue: u32,
}

impl Default for BulkheadConfig {
    fn default() -> Self {
        Self {
            per_server: PER_SERVER,
            servers: BTreeMap::new(),
            tools: BTreeMap::new(),
            per_principal: None,
            principals: BTreeMap::new(),
            queue: 4096,
        }
    }
}
