//! The configuration key `pml.guards`.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::name::GuardName;

/// The `pml.guards` key of the configuration file: a preset, and settings by guard. Every part may be
/// left out.
///
/// ```jsonc
/// {
///   "preset": "default",                     // or "strict", "observe"
///   "references": "block",                   // a verdict: off, warn, block, or repair where a guard can
///   "network": {                             // settings; without a verdict they switch the guard on
///     "resolve": true,
///     "tools": { "intranet:*": { "private": true }, "notes:*": "off" }
///   },
///   "preconditions": { "after": { "db:drop_*": ["db:backup"] } }
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GuardsConfig {
    /// The settings where nothing else is written.
    pub preset: Preset,
    /// What is written for each guard.
    pub(crate) guards: BTreeMap<GuardName, Value>,
}

/// The settings of all guards where the operator writes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Everything that is not certainly harmless is blocked.
    Strict,
    /// What is hardly ever meant is blocked or warned of. Ordinary use is not disturbed.
    #[default]
    Default,
    /// The settings of `strict`, all with the verdict `warn`.
    Observe,
}

impl Preset {
    /// The name in configurations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Default => "default",
            Self::Observe => "observe",
        }
    }
}

/// A mistake in `pml.guards`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", place(guard, at))]
pub struct GuardsError {
    /// The key of the guard.
    pub guard: String,
    /// The key below it, or the pattern of a tool; empty for the guard itself.
    pub at: String,
    /// What is wrong, and what to do.
    pub message: String,
}

fn place(guard: &str, at: &str) -> String {
    match at {
        "" => format!("`{guard}`"),
        at => format!("`{guard}`, `{at}`"),
    }
}

impl<'de> Deserialize<'de> for GuardsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut written = Map::deserialize(deserializer)?;
        let preset = match written.remove("preset") {
            Some(preset) => Preset::deserialize(preset).map_err(D::Error::custom)?,
            None => Preset::default(),
        };
        let mut guards = BTreeMap::new();
        for (key, value) in written {
            let name = GuardName::deserialize(Value::from(key.as_str()));
            let name = name.map_err(|_| D::Error::custom(unknown(&key)))?;
            if let Some(place) = name.configured_by() {
                let message = format!("`{name}` has no settings here: it is the rule of {place}");
                return Err(D::Error::custom(message));
            }
            guards.insert(name, value);
        }
        Ok(Self { preset, guards })
    }
}

fn unknown(key: &str) -> String {
    let names = || {
        GuardName::ALL
            .iter()
            .map(|name| name.as_str())
            .chain(["preset"])
    };
    match pml_nearest::typo_of(key, names()) {
        Some(name) => format!("there is no guard `{key}`: did you mean `{name}`?"),
        None => {
            let names: Vec<&str> = names().collect();
            format!("there is no guard `{key}`; there are {}", names.join(", "))
        }
    }
}

impl Serialize for GuardsConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = Map::new();
        all.insert("preset".to_owned(), self.preset.as_str().into());
        for (name, written) in &self.guards {
            all.insert(name.to_string(), written.clone());
        }
        all.serialize(serializer)
    }
}
