//! Stops calls before the calls that they need: a tool only after another one.

use std::collections::BTreeMap;

use pml_policy::tool_glob::ToolGlob;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};

/// `pml.guards.preconditions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct PreconditionsSettings {
    verdict: Level,
    /// By tool, the tools that must have answered in the same session before: all of the list, of each
    /// pattern one tool.
    after: BTreeMap<ToolGlob, Vec<ToolGlob>>,
}

impl Settings for PreconditionsSettings {
    const NAME: GuardName = GuardName::Preconditions;

    fn strict() -> Value {
        json!({ "verdict": "block", "after": {} })
    }

    fn standard() -> Value {
        Self::strict()
    }

    fn level(&self) -> Level {
        self.verdict
    }

    fn check(&self) -> Result<(), String> {
        match self.after.iter().find(|(_, needed)| needed.is_empty()) {
            Some((tool, _)) => Err(format!("`after` names no tool before `{tool}`")),
            None => Ok(()),
        }
    }
}

impl PreconditionsSettings {
    fn needed<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a ToolGlob> {
        let rules = self
            .after
            .iter()
            .filter(move |(glob, _)| glob.matches(tool));
        rules.flat_map(|(_, needed)| needed)
    }
}

/// Calls before the calls that they need.
pub(crate) struct PreconditionsGuard(pub Rules<PreconditionsSettings>);

impl Guard for PreconditionsGuard {
    fn name(&self) -> GuardName {
        PreconditionsSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        let needed: Vec<String> = settings.needed(tool).map(ToString::to_string).collect();
        (!needed.is_empty()).then(|| InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: format!("calls before `{}` has answered", needed.join("` and `")),
        })
    }

    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict {
        let Some(settings) = self.0.of(call.tool) else {
            return Verdict::Allow;
        };
        let mut needed = settings.needed(call.tool);
        match needed.find(|glob| !call.history.has_succeeded(|tool| glob.matches(tool))) {
            Some(missing) => Verdict::objection(
                settings.verdict,
                format!("`{missing}` has not answered in this session: call it first"),
            ),
            None => Verdict::Allow,
        }
    }

    fn after(&self, answer: &mut Answer<'_>) -> Verdict {
        answer.history.succeeded(answer.tool);
        Verdict::Allow
    }
}
