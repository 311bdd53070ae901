//! What an operator writes about breakers.

use std::num::NonZeroU32;

use pml_units::HumanDuration;
use serde::{Deserialize, Serialize};

use crate::policy::Ratio;

const MIN_CALLS: NonZeroU32 = NonZeroU32::new(10).unwrap();
const PROBES: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// `policy.breaker`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct BreakerConfig {
    /// `false` lets every call through, whatever happened before.
    pub enabled: bool,
    /// How far back calls are counted.
    pub window: HumanDuration,
    /// Below this many calls in the window nothing is decided.
    pub min_calls: NonZeroU32,
    /// The breaker opens when this share of the calls failed.
    pub failed: Ratio,
    /// From when a call counts as slow. Not set, none does: a tool that takes long by nature is
    /// no sign of a sick server.
    pub slow_call: Option<HumanDuration>,
    /// The breaker opens when this share of the calls was slow.
    pub slow: Ratio,
    /// How long it stays open at first; each time the probes fail, twice as long.
    pub open_for: HumanDuration,
    /// Where that stops growing.
    pub max_open_for: HumanDuration,
    /// How many calls are let through half open, and must succeed.
    pub probes: NonZeroU32,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            window: HumanDuration::from_secs(30),
            min_calls: MIN_CALLS,
            failed: Ratio::HALF,
            slow_call: None,
            slow: Ratio::NEARLY_ALL,
            open_for: HumanDuration::from_secs(5),
            max_open_for: HumanDuration::from_secs(60),
            probes: PROBES,
        }
    }
}
