//! Stops calls with more effect than is permitted.

use pml_protocol::EffectClass;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};

/// `pml.guards.effect`. The class of a tool is that of `pml.effects`, which retries and approvals use.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct EffectSettings {
    verdict: Level,
    /// The class with the most effect that is permitted.
    max: EffectClass,
}

impl Settings for EffectSettings {
    const NAME: GuardName = GuardName::Effect;

    fn strict() -> Value {
        json!({ "verdict": "block", "max": "keyed" })
    }

    fn standard() -> Value {
        json!({ "verdict": "off", "max": "guarded" })
    }

    fn level(&self) -> Level {
        self.verdict
    }
}

/// Calls with more effect than is permitted.
pub(crate) struct EffectGuard(pub Rules<EffectSettings>);

impl Guard for EffectGuard {
    fn name(&self) -> GuardName {
        EffectSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        Some(InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: format!("effects above the class `{}`", settings.max),
        })
    }

    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict {
        match self.0.of(call.tool) {
            Some(settings) if call.effect > settings.max => {
                let reason = format!(
                    "its effect class is `{}`, and at most `{}` is permitted: the operator can name its class in pml.effects, or permit the tool in pml.guards.effect.tools",
                    call.effect, settings.max
                );
                Verdict::objection(settings.verdict, reason)
            }
            _ => Verdict::Allow,
        }
    }

    fn after(&self, _: &mut Answer<'_>) -> Verdict {
        Verdict::Allow
    }
}
