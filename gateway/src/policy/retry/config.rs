//! The configuration key `policy.retry`.

use std::num::NonZeroU32;

use pml_units::HumanDuration;
use serde::{Deserialize, Serialize};

use crate::policy::Ratio;
use crate::policy::globs::ToolGlob;

const ATTEMPTS: NonZeroU32 = NonZeroU32::new(3).unwrap();

/// `policy.retry`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct RetryConfig {
    /// Attempts per call; 1 means no retries.
    pub attempts: NonZeroU32,
    /// The upper bound of the first delay. It doubles with each retry.
    pub first_delay: HumanDuration,
    /// The maximum of that bound.
    pub max_delay: HumanDuration,
    /// Tools of the effect class `idempotent`, by glob, for those about which `pml.effects` says
    /// nothing. Read by [`EffectRules`](crate::effects::EffectRules).
    pub idempotent: Vec<ToolGlob>,
    /// Retries as a ratio of the calls to a server, beyond a few that are always allowed.
    pub budget: Ratio,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            attempts: ATTEMPTS,
            first_delay: HumanDuration::from_millis(100),
            max_delay: HumanDuration::from_secs(5),
            idempotent: Vec::new(),
            budget: Ratio::FIFTH,
        }
    }
}
