//! Stops large, deep and long answers.

use pml_units::ByteSize;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};

/// `pml.guards.output`. What is absent is bounded by the limits of the transport alone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct OutputSettings {
    /// `repair` cuts lists, texts and what is too deep.
    verdict: Level,
    /// Bytes of texts and keys together.
    #[serde(default)]
    bytes: Option<ByteSize>,
    /// Lists and objects inside of each other.
    #[serde(default)]
    depth: Option<usize>,
    /// Items of one list or object.
    #[serde(default)]
    items: Option<usize>,
}

impl Settings for OutputSettings {
    const NAME: GuardName = GuardName::Output;

    fn strict() -> Value {
        json!({ "verdict": "block", "bytes": "4m", "depth": 32, "items": 10000 })
    }

    fn standard() -> Value {
        json!({ "verdict": "off" })
    }

    fn level(&self) -> Level {
        self.verdict
    }
}

/// Large and deep answers.
pub(crate) struct OutputGuard(pub Rules<OutputSettings>);

impl Guard for OutputGuard {
    fn name(&self) -> GuardName {
        OutputSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        let parts = [
            settings
                .bytes
                .map(|most| format!("more than {most} of text")),
            settings
                .depth
                .map(|most| format!("more than {most} levels")),
            settings
                .items
                .map(|most| format!("lists of more than {most} items")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: format!("answers with {}", parts.join(", ")),
        })
    }

    fn before(&self, _: &mut GuardedCall<'_>) -> Verdict {
        Verdict::Allow
    }

    fn after(&self, answer: &mut Answer<'_>) -> Verdict {
        let Some(settings) = self.0.of(answer.tool) else {
            return Verdict::Allow;
        };
        let mut size = Size::default();
        size.add(answer.value, 0);
        let reason = match size.over(settings) {
            Some(reason) => reason,
            None => return Verdict::Allow,
        };
        if settings.verdict == Level::Repair {
            let mut left = settings
                .bytes
                .map_or(usize::MAX, |most| to_usize(most.bytes()));
            cut(answer.value, settings, 0, &mut left);
            return Verdict::Repair(format!("{reason}, and is cut"));
        }
        Verdict::objection(
            settings.verdict,
            format!("{reason}: ask for less, such as a page or a part"),
        )
    }
}

fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[derive(Default)]
struct Size {
    bytes: usize,
    depth: usize,
    items: usize,
}

impl Size {
    fn add(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => self.bytes += text.len(),
            Value::Array(items) => {
                self.items = self.items.max(items.len());
                self.depth = self.depth.max(depth + 1);
                items.iter().for_each(|item| self.add(item, depth + 1));
            }
            Value::Object(fields) => {
                self.items = self.items.max(fields.len());
                self.depth = self.depth.max(depth + 1);
                for (key, value) in fields {
                    self.bytes += key.len();
                    self.add(value, depth + 1);
                }
            }
            // A number or a word of JSON.
            _ => self.bytes += 8,
        }
    }

    fn over(&self, settings: &OutputSettings) -> Option<String> {
        if let Some(most) = settings.bytes
            && self.bytes > to_usize(most.bytes())
        {
            return Some(format!(
                "its answer has {} bytes, over the limit of {most}",
                self.bytes
            ));
        }
        if let Some(most) = settings.depth
            && self.depth > most
        {
            return Some(format!(
                "its answer has {} levels, over the limit of {most}",
                self.depth
            ));
        }
        let most = settings.items.filter(|most| self.items > *most)?;
        Some(format!(
            "its answer has a list of {} items, over the limit of {most}",
            self.items
        ))
    }
}

/// Cuts lists to the limit, drops what is too deep, and drops what comes after the last byte.
fn cut(value: &mut Value, settings: &OutputSettings, depth: usize, left: &mut usize) {
    let is_too_deep = settings.depth.is_some_and(|most| depth >= most);
    match value {
        Value::Array(_) | Value::Object(_) if is_too_deep => *value = Value::Null,
        Value::String(text) => {
            let end = text.floor_char_boundary((*left).min(text.len()));
            text.truncate(end);
            *left -= end;
        }
        Value::Array(items) => {
            items.truncate(settings.items.unwrap_or(usize::MAX));
            items.retain_mut(|item| {
                let has_room = *left > 0;
                cut(item, settings, depth + 1, left);
                has_room
            });
        }
        Value::Object(fields) => {
            let mut room = settings.items.unwrap_or(usize::MAX);
            let kept = std::mem::take(fields).into_iter();
            *fields = kept
                .filter_map(|(key, mut value)| {
                    let has_room = room > 0 && *left > key.len();
                    room -= usize::from(has_room);
                    *left -= if has_room { key.len() } else { 0 };
                    has_room.then(|| {
                        cut(&mut value, settings, depth + 1, left);
                        (key, value)
                    })
                })
                .collect();
        }
        _ => *left = left.saturating_sub(8),
    }
}
