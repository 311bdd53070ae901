//! What an operator writes about retries.

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
    /// How often a call is tried in all; 1 never tries again.
    pub attempts: NonZeroU32,
    /// The bound of the first delay; each further one is twice as high.
    pub first_delay: HumanDuration,
    /// Where the bound stops growing.
    pub max_delay: HumanDuration,
    /// Tools that may be called twice for one call of a script, by glob.
    pub idempotent: Vec<ToolGlob>,
    /// Retries as a share of the calls to a server, beyond a few that are always allowed.
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
