//! Stops calls that take long: a warning after the soft time, the end at the hard one.

use std::time::Duration;

use pml_units::HumanDuration;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};

/// `pml.guards.time`. The hard time is one more limit of the gateway's own time limit of a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct TimeSettings {
    /// Of the hard time. The soft time always warns.
    verdict: Level,
    #[serde(default)]
    soft: Option<HumanDuration>,
    #[serde(default)]
    hard: Option<HumanDuration>,
}

impl Settings for TimeSettings {
    const NAME: GuardName = GuardName::Time;

    fn strict() -> Value {
        json!({ "verdict": "block", "soft": "10s", "hard": "30s" })
    }

    fn standard() -> Value {
        json!({ "verdict": "off" })
    }

    fn level(&self) -> Level {
        self.verdict
    }

    fn check(&self) -> Result<(), String> {
        match (self.soft, self.hard) {
            (Some(soft), Some(hard)) if soft > hard => Err(format!(
                "`soft` ({soft}) is longer than `hard` ({hard}): set both"
            )),
            (_, Some(hard)) if hard.get().is_zero() => {
                Err("`hard` permits no call: it is zero".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// Calls that take long.
pub(crate) struct TimeGuard(pub Rules<TimeSettings>);

impl TimeGuard {
    /// The longest time of one attempt of a call.
    pub fn limit(&self, tool: &str) -> Option<Duration> {
        let settings = self
            .0
            .of(tool)
            .filter(|settings| settings.verdict == Level::Block)?;
        settings.hard.map(HumanDuration::get)
    }
}

impl Guard for TimeGuard {
    fn name(&self) -> GuardName {
        TimeSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        let parts = [
            settings
                .soft
                .map(|soft| format!("calls of more than {soft} (warn)")),
            settings
                .hard
                .map(|hard| format!("calls of more than {hard}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: parts.join(", "),
        })
    }

    fn before(&self, _: &mut GuardedCall<'_>) -> Verdict {
        Verdict::Allow
    }

    fn after(&self, answer: &mut Answer<'_>) -> Verdict {
        let Some(settings) = self.0.of(answer.tool) else {
            return Verdict::Allow;
        };
        let passed = |limit: Option<HumanDuration>| limit.filter(|limit| answer.took > limit.get());
        match passed(settings.hard).or(passed(settings.soft)) {
            Some(limit) => Verdict::Warn(format!(
                "the call took {:.1} s, more than {limit}: ask for less, or for a part",
                answer.took.as_secs_f64()
            )),
            None => Verdict::Allow,
        }
    }
}
