//! The configuration key `policy.breaker`.

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
    /// `false` switches the breakers off.
    pub enabled: bool,
    /// The length of the sliding window.
    pub window: HumanDuration,
    /// The breaker stays closed with fewer calls in the window.
    pub min_calls: NonZeroU32,
    /// The breaker opens when this ratio of the calls failed.
    pub failed: Ratio,
    /// From which duration a call counts as slow. If absent, no call does: some tools take long on
    /// healthy servers.
    pub slow_call: Option<HumanDuration>,
    /// The breaker opens when this ratio of the calls was slow.
    pub slow: Ratio,
    /// How long it stays open at first. The time doubles each time the probes fail.
    pub open_for: HumanDuration,
    /// The maximum of that time.
    pub max_open_for: HumanDuration,
    /// How many calls pass half open; all of them must succeed.
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
