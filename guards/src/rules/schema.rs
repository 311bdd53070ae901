//! Stops arguments that the schema of the tool does not know, and repairs types that nearly fit.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};
use crate::walk::At;

/// `pml.guards.schema`. That arguments fit the schema is always checked; most schemas permit further
/// names, and a mistyped optional argument is then ignored by the tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct SchemaSettings {
    /// For names that the schema does not have. `repair` leaves the arguments out.
    verdict: Level,
    /// Whether a text that is exactly a number, a boolean or JSON becomes that where the schema wants it.
    coerce: bool,
}

impl Settings for SchemaSettings {
    const NAME: GuardName = GuardName::Schema;

    fn strict() -> Value {
        json!({ "verdict": "block", "coerce": false })
    }

    fn standard() -> Value {
        json!({ "verdict": "off", "coerce": false })
    }

    fn level(&self) -> Level {
        self.verdict
    }
}

/// Unknown arguments, and types that nearly fit.
pub(crate) struct SchemaGuard(pub Rules<SchemaSettings>);

impl SchemaGuard {
    /// Whether types are repaired before the arguments are checked against the schema.
    pub fn coerces(&self, tool: &str) -> bool {
        self.0.of(tool).is_some_and(|settings| settings.coerce)
    }
}

impl Guard for SchemaGuard {
    fn name(&self) -> GuardName {
        SchemaSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        let coerced = match settings.coerce {
            true => "; types that nearly fit are converted",
            false => "",
        };
        Some(InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: format!("arguments that its schema does not name{coerced}"),
        })
    }

    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict {
        let Some(settings) = self.0.of(call.tool) else {
            return Verdict::Allow;
        };
        let is_repaired = settings.verdict == Level::Repair;
        let mut found = Vec::new();
        unknown(
            call.input_schema,
            call.arguments,
            &At::Top,
            is_repaired,
            &mut found,
        );
        match found.as_slice() {
            [] => Verdict::Allow,
            names => {
                let names = names.join("`, `");
                let reason = match is_repaired {
                    true => format!(
                        "the arguments `{names}` are left out: its schema does not name them"
                    ),
                    false => format!(
                        "its schema does not name the arguments `{names}`: correct or remove them"
                    ),
                };
                Verdict::objection(settings.verdict, reason)
            }
        }
    }

    fn after(&self, _: &mut Answer<'_>) -> Verdict {
        Verdict::Allow
    }
}

/// Names in one message.
const MAX_NAMED: usize = 5;

/// Finds, and where asked removes, fields of objects whose schema lists its properties and neither
/// permits nor forbids others.
fn unknown(schema: &Value, value: &mut Value, at: &At<'_>, remove: bool, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let Some(known) = schema["properties"].as_object() else {
                return;
            };
            let is_open = [
                "additionalProperties",
                "patternProperties",
                "$ref",
                "allOf",
                "anyOf",
                "oneOf",
                "if",
            ]
            .iter()
            .any(|key| {
                schema
                    .get(*key)
                    .is_some_and(|open| open != &Value::Bool(false))
            });
            if !is_open {
                let mut strangers: Vec<String> = Vec::new();
                for name in fields.keys().filter(|name| !known.contains_key(*name)) {
                    if found.len() < MAX_NAMED {
                        found.push(At::Key(at, name).to_string());
                    }
                    strangers.push(name.clone());
                }
                if remove {
                    strangers.iter().for_each(|name| drop(fields.remove(name)));
                }
            }
            for (name, value) in fields.iter_mut() {
                if let Some(schema) = known.get(name) {
                    unknown(schema, value, &At::Key(at, name), remove, found);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter_mut().enumerate() {
                    unknown(schema, item, &At::Index(at, index), remove, found);
                }
            }
        }
        _ => {}
    }
}
