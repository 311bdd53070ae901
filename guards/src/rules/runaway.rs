//! Stops loops that make the same call again and again.

use pml_units::HumanDuration;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};

/// `pml.guards.runaway`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct RunawaySettings {
    verdict: Level,
    /// Equal calls of a session within `window`.
    calls: u32,
    /// Calls of one tool with any arguments within `window`; if absent, any number.
    #[serde(default)]
    same_tool: Option<u32>,
    window: HumanDuration,
}

impl Settings for RunawaySettings {
    const NAME: GuardName = GuardName::Runaway;

    fn strict() -> Value {
        json!({ "verdict": "block", "calls": 20, "sameTool": 500, "window": "10m" })
    }

    fn standard() -> Value {
        json!({ "verdict": "warn", "calls": 1000, "window": "10m" })
    }

    fn level(&self) -> Level {
        self.verdict
    }

    fn check(&self) -> Result<(), String> {
        match self.calls == 0 || self.same_tool == Some(0) {
            true => Err(
                "`calls` and `sameTool` are at least 1: deny the tool in pml.policy to permit none"
                    .to_owned(),
            ),
            false => Ok(()),
        }
    }
}

/// The same call again and again.
pub(crate) struct RunawayGuard(pub Rules<RunawaySettings>);

impl Guard for RunawayGuard {
    fn name(&self) -> GuardName {
        RunawaySettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        let same_tool = settings
            .same_tool
            .map(|calls| format!(", or {calls} calls of the tool"));
        Some(InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: format!(
                "more than {} equal calls{} in {}",
                settings.calls,
                same_tool.unwrap_or_default(),
                settings.window
            ),
        })
    }

    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict {
        let Some(settings) = self.0.of(call.tool) else {
            return Verdict::Allow;
        };
        let (equal, of_tool) = call
            .history
            .count(call.key, call.tool, settings.window.get());
        let reason = match settings.same_tool {
            _ if equal > settings.calls => format!(
                "the same call was made {} times in {}: use its answer instead of calling again",
                equal - 1,
                settings.window
            ),
            Some(most) if of_tool > most => format!(
                "it was called {} times in {}: do more with each call, or stop",
                of_tool - 1,
                settings.window
            ),
            _ => return Verdict::Allow,
        };
        // One warning of a loop is enough.
        let is_first = equal == settings.calls + 1
            || settings.same_tool.is_some_and(|most| of_tool == most + 1);
        match settings.verdict == Level::Warn && !is_first {
            true => Verdict::Allow,
            false => Verdict::objection(settings.verdict, reason),
        }
    }

    fn after(&self, _: &mut Answer<'_>) -> Verdict {
        Verdict::Allow
    }
}
