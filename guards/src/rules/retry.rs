//! Stops the same effect a second time, after a call whose answer was lost.

use pml_protocol::EffectClass;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};

/// `pml.guards.retry`. The retries of pml itself follow the effect class and need no guard; this one is
/// about a script that makes the same call again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct RetrySettings {
    verdict: Level,
}

impl Settings for RetrySettings {
    const NAME: GuardName = GuardName::Retry;

    fn strict() -> Value {
        json!({ "verdict": "block" })
    }

    fn standard() -> Value {
        json!({ "verdict": "warn" })
    }

    fn level(&self) -> Level {
        self.verdict
    }
}

/// The same effect a second time.
pub(crate) struct RetryGuard(pub Rules<RetrySettings>);

impl Guard for RetryGuard {
    fn name(&self) -> GuardName {
        RetrySettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        Some(InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: "the same call again after one whose answer was lost, unless its class is `read` or `idempotent`".to_owned(),
        })
    }

    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict {
        let has_effect = match call.effect {
            EffectClass::Read | EffectClass::Idempotent => false,
            // The key that pml chooses for a repeated call is another one.
            EffectClass::Keyed => !call.has_own_key,
            EffectClass::Guarded => true,
        };
        match self.0.of(call.tool) {
            Some(settings) if has_effect && call.history.is_unanswered(call.key) => {
                Verdict::objection(
                    settings.verdict,
                    "the same call was sent before and its answer was lost, so it may have had its effect: check that before calling again",
                )
            }
            _ => Verdict::Allow,
        }
    }

    fn after(&self, _: &mut Answer<'_>) -> Verdict {
        Verdict::Allow
    }
}
