//! Stops secrets and personal data in arguments, as the detectors of scrubbing find them.

use pml_scrub::{Profile, ScrubConfig, Scrubber};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::call::{Answer, GuardedCall};
use crate::config::GuardsError;
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};
use crate::walk::At;

/// `pml.guards.sensitive`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct SensitiveSettings {
    /// `repair` puts the name of its kind in the place of each value, as in `[EMAIL]`.
    verdict: Level,
    detect: Detected,
}

/// What counts as sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Detected {
    /// Passwords, keys and tokens.
    Secrets,
    /// Personal data, too.
    Personal,
}

impl Settings for SensitiveSettings {
    const NAME: GuardName = GuardName::Sensitive;

    fn strict() -> Value {
        json!({ "verdict": "block", "detect": "secrets" })
    }

    fn standard() -> Value {
        json!({ "verdict": "off", "detect": "secrets" })
    }

    fn level(&self) -> Level {
        self.verdict
    }
}

/// Secrets and personal data in arguments.
pub(crate) struct SensitiveGuard {
    rules: Rules<SensitiveSettings>,
    secrets: Scrubber,
    personal: Scrubber,
}

impl SensitiveGuard {
    pub fn new(rules: Rules<SensitiveSettings>) -> Result<Self, GuardsError> {
        let scrubber = |profile| {
            let config = ScrubConfig {
                profile,
                ..ScrubConfig::default()
            };
            Scrubber::new(&config).map_err(|error| GuardsError {
                guard: GuardName::Sensitive.as_str().to_owned(),
                at: String::new(),
                message: error.to_string(),
            })
        };
        Ok(Self {
            rules,
            secrets: scrubber(Profile::SecretsOnly)?,
            personal: scrubber(Profile::Default)?,
        })
    }
}

impl Guard for SensitiveGuard {
    fn name(&self) -> GuardName {
        SensitiveSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.rules.of(tool)?;
        let what = match settings.detect {
            Detected::Secrets => "secrets in arguments",
            Detected::Personal => "secrets and personal data in arguments",
        };
        Some(InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: what.to_owned(),
        })
    }

    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict {
        let Some(settings) = self.rules.of(call.tool) else {
            return Verdict::Allow;
        };
        let scrubber = match settings.detect {
            Detected::Secrets => &self.secrets,
            Detected::Personal => &self.personal,
        };
        let mut search = Search {
            scrubber,
            repair: settings.verdict == Level::Repair,
            found: Vec::new(),
        };
        search.visit(call.arguments, &At::Top);
        match search.found.as_slice() {
            [] => Verdict::Allow,
            [(place, kind), ..] => {
                let what = match settings.verdict {
                    Level::Repair => "which is replaced by its kind",
                    _ => "which this tool must not get: leave it out, or pass a reference to it",
                };
                let reason = format!("`{place}` contains a value of the kind {kind}, {what}");
                Verdict::objection(settings.verdict, reason)
            }
        }
    }

    fn after(&self, _: &mut Answer<'_>) -> Verdict {
        Verdict::Allow
    }
}

struct Search<'a> {
    scrubber: &'a Scrubber,
    repair: bool,
    /// The place and the kind of each value.
    found: Vec<(String, &'static str)>,
}

impl Search<'_> {
    fn visit(&mut self, value: &mut Value, at: &At<'_>) {
        match value {
            Value::String(text) => {
                if let Some(repaired) = self.text(text, at) {
                    *text = repaired;
                }
            }
            Value::Number(number) => {
                // A card number may be passed as a number.
                if let Some(repaired) = self.text(&number.to_string(), at) {
                    *value = Value::String(repaired);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.visit(item, &At::Index(at, index));
                }
            }
            Value::Object(fields) => {
                let mut renamed = Map::new();
                for (key, mut value) in std::mem::take(fields) {
                    let before = self.found.len();
                    let mut key = self.text(&key, &At::KeyIn(at)).unwrap_or(key);
                    let is_shown = self.found.len() == before;
                    let shown = if is_shown { key.as_str() } else { "*" };
                    self.visit(&mut value, &At::Key(at, shown));
                    while renamed.contains_key(&key) {
                        key.push('_');
                    }
                    renamed.insert(key, value);
                }
                *fields = renamed;
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Notes what is in a text. The text without it, if it is to be repaired.
    fn text(&mut self, text: &str, at: &At<'_>) -> Option<String> {
        let findings = self.scrubber.find(text, at.key());
        let place = || at.to_string();
        self.found
            .extend(findings.iter().map(|found| (place(), found.kind.as_str())));
        if findings.is_empty() || !self.repair {
            return None;
        }
        let letters: Vec<char> = text.chars().collect();
        let (mut repaired, mut from) = (String::new(), 0);
        for found in &findings {
            let (start, end) = (
                found.place.start.max(from),
                found.place.end.min(letters.len()),
            );
            if start >= end {
                continue;
            }
            repaired.extend(&letters[from..start]);
            repaired.push_str(&format!("[{}]", found.kind));
            from = end;
        }
        repaired.extend(&letters[from..]);
        Some(repaired)
    }
}
