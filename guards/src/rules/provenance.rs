//! Stops arguments that no earlier answer had: identifiers that a model made up, or took from elsewhere.

use std::collections::BTreeMap;

use pml_policy::tool_glob::ToolGlob;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};

/// By tool, by the name of an argument, the tools whose answers must have its value.
type Sources = BTreeMap<ToolGlob, BTreeMap<String, Vec<ToolGlob>>>;

/// `pml.guards.provenance`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ProvenanceSettings {
    verdict: Level,
    arguments: Sources,
}

impl Settings for ProvenanceSettings {
    const NAME: GuardName = GuardName::Provenance;

    fn strict() -> Value {
        json!({ "verdict": "block", "arguments": {} })
    }

    fn standard() -> Value {
        Self::strict()
    }

    fn level(&self) -> Level {
        self.verdict
    }

    fn check(&self) -> Result<(), String> {
        let mut rules = self.arguments.values().flatten();
        match rules.find(|(_, sources)| sources.is_empty()) {
            Some((argument, _)) => Err(format!("`arguments` names no source of `{argument}`")),
            None => Ok(()),
        }
    }
}

/// Arguments that no earlier answer had.
pub(crate) struct ProvenanceGuard {
    pub rules: Rules<ProvenanceSettings>,
    /// The tools whose answers are remembered.
    sources: Vec<ToolGlob>,
}

impl ProvenanceGuard {
    pub fn new(rules: Rules<ProvenanceSettings>) -> Self {
        let sources = rules
            .settings()
            .flat_map(|settings| settings.arguments.values());
        let sources = sources
            .flat_map(BTreeMap::values)
            .flatten()
            .cloned()
            .collect();
        Self { rules, sources }
    }
}

impl Guard for ProvenanceGuard {
    fn name(&self) -> GuardName {
        ProvenanceSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.rules.of(tool)?;
        let rules = settings
            .arguments
            .iter()
            .filter(|(glob, _)| glob.matches(tool));
        let rules: Vec<String> = rules
            .flat_map(|(_, arguments)| arguments)
            .map(|(argument, sources)| {
                format!("`{argument}` that is not in an answer of {}", list(sources))
            })
            .collect();
        (!rules.is_empty()).then(|| InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: rules.join("; "),
        })
    }

    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict {
        // The answers of a dry run are made up.
        let Some(settings) = self.rules.of(call.tool).filter(|_| !call.is_dry_run) else {
            return Verdict::Allow;
        };
        let rules = settings
            .arguments
            .iter()
            .filter(|(glob, _)| glob.matches(call.tool));
        for (argument, sources) in rules.flat_map(|(_, arguments)| arguments) {
            let is_source = |tool: &str| sources.iter().any(|glob| glob.matches(tool));
            let Some(value) = call.arguments.get(argument) else {
                continue;
            };
            if !all_known(value, &|value| call.history.has_value(value, is_source)) {
                let reason = format!(
                    "the value of `{argument}` is in no answer of {} in this session: take it from there, unchanged",
                    list(sources)
                );
                return Verdict::objection(settings.verdict, reason);
            }
        }
        Verdict::Allow
    }

    fn after(&self, answer: &mut Answer<'_>) -> Verdict {
        if self.sources.iter().any(|glob| glob.matches(answer.tool)) {
            answer.history.keep_values(answer.tool, answer.value);
        }
        Verdict::Allow
    }
}

/// Whether every text and number in a value is known. Nothing else can be: `true` is in every answer.
fn all_known(value: &Value, is_known: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().all(|item| all_known(item, is_known)),
        Value::Object(fields) => fields
            .iter()
            .all(|(key, value)| is_known(&Value::from(key.as_str())) && all_known(value, is_known)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => is_known(value),
    }
}

fn list(sources: &[ToolGlob]) -> String {
    let names: Vec<String> = sources.iter().map(|glob| format!("`{glob}`")).collect();
    names.join(" or ")
}
