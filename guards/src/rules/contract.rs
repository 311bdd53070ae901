//! Stops answers that do not fit the output schema of their tool.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};

/// `pml.guards.contract`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ContractSettings {
    verdict: Level,
}

impl Settings for ContractSettings {
    const NAME: GuardName = GuardName::Contract;

    fn strict() -> Value {
        json!({ "verdict": "block" })
    }

    fn standard() -> Value {
        json!({ "verdict": "off" })
    }

    fn level(&self) -> Level {
        self.verdict
    }
}

/// Answers that do not fit their schema.
pub(crate) struct ContractGuard(pub Rules<ContractSettings>);

impl Guard for ContractGuard {
    fn name(&self) -> GuardName {
        ContractSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        Some(InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: "answers that do not fit its output schema, if it has one".to_owned(),
        })
    }

    fn before(&self, _: &mut GuardedCall<'_>) -> Verdict {
        Verdict::Allow
    }

    fn after(&self, answer: &mut Answer<'_>) -> Verdict {
        let Some(settings) = self.0.of(answer.tool) else {
            return Verdict::Allow;
        };
        match (answer.contract)(answer.value) {
            Ok(()) => Verdict::Allow,
            Err(mistake) => Verdict::objection(
                settings.verdict,
                format!("its answer does not fit its output schema: {mistake}"),
            ),
        }
    }
}
