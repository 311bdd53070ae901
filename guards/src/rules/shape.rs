//! Stops long chains of calls, wide fan-outs and large batches.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};
use crate::walk::At;

/// `pml.guards.shape`. What is absent is not bounded here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ShapeSettings {
    verdict: Level,
    /// Calls of a run one after the other.
    #[serde(default)]
    chain: Option<u32>,
    /// Calls of a run at once.
    #[serde(default)]
    fan_out: Option<u32>,
    /// Items of a list in the arguments.
    #[serde(default)]
    batch: Option<usize>,
}

impl Settings for ShapeSettings {
    const NAME: GuardName = GuardName::Shape;

    fn strict() -> Value {
        json!({ "verdict": "block", "chain": 100, "fanOut": 32, "batch": 1000 })
    }

    fn standard() -> Value {
        json!({ "verdict": "off" })
    }

    fn level(&self) -> Level {
        self.verdict
    }
}

/// Long chains, wide fan-outs and large batches.
pub(crate) struct ShapeGuard(pub Rules<ShapeSettings>);

impl Guard for ShapeGuard {
    fn name(&self) -> GuardName {
        ShapeSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        let parts = [
            settings
                .chain
                .map(|most| format!("more than {most} calls one after the other")),
            settings
                .fan_out
                .map(|most| format!("more than {most} calls at once")),
            settings
                .batch
                .map(|most| format!("lists of more than {most} items")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: parts.join(", "),
        })
    }

    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict {
        let Some(settings) = self.0.of(call.tool) else {
            return Verdict::Allow;
        };
        let shape = call.shape;
        let reason = if settings.chain.is_some_and(|most| shape.chain > most) {
            format!(
                "it would be call {} of a chain, each made after the one before: make independent calls at once, or use several runs",
                shape.chain
            )
        } else if settings.fan_out.is_some_and(|most| shape.in_flight > most) {
            format!(
                "{} calls of the run are under way: make fewer at once",
                shape.in_flight - 1
            )
        } else if let Some(most) = settings.batch
            && let Some((place, items)) = largest(call.arguments, &At::Top, most)
        {
            format!("`{place}` has {items} items, over the limit of {most}: pass them in parts")
        } else {
            return Verdict::Allow;
        };
        Verdict::objection(settings.verdict, reason)
    }

    fn after(&self, _: &mut Answer<'_>) -> Verdict {
        Verdict::Allow
    }
}

/// The first list with more items than `most`. The entries of an object are items, too: a map of
/// records is a batch.
fn largest(value: &Value, at: &At<'_>, most: usize) -> Option<(String, usize)> {
    let over = |items: usize| (items > most).then(|| (at.to_string(), items));
    match value {
        Value::Array(items) => over(items.len()).or_else(|| {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| largest(item, &At::Index(at, index), most))
        }),
        Value::Object(fields) => over(fields.len()).or_else(|| {
            fields
                .iter()
                .find_map(|(key, value)| largest(value, &At::Key(at, key), most))
        }),
        _ => None,
    }
}
