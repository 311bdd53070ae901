//! Stops degenerate answers: one text over and over, numbers at their limit, the same answer to
//! different questions.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};
use crate::walk::{At, find_text};

/// `pml.guards.saturation`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct SaturationSettings {
    verdict: Level,
    /// Different calls of a tool in a row with the same answer, unless it is short.
    same: usize,
    /// The share of a long text that one line or one character may be.
    repeated: f64,
}

impl Settings for SaturationSettings {
    const NAME: GuardName = GuardName::Saturation;

    fn strict() -> Value {
        json!({ "verdict": "warn", "same": 5, "repeated": 0.9 })
    }

    fn standard() -> Value {
        json!({ "verdict": "off", "same": 5, "repeated": 0.9 })
    }

    fn level(&self) -> Level {
        self.verdict
    }

    fn check(&self) -> Result<(), String> {
        match (0.0..=1.0).contains(&self.repeated) && self.same >= 2 {
            true => Ok(()),
            false => Err("`repeated` is a share from 0 to 1, and `same` is at least 2".to_owned()),
        }
    }
}

/// Texts shorter than this repeat themselves by nature.
const LONG_TEXT: usize = 1024;
/// Fewer lines are no pattern.
const MANY_LINES: usize = 20;

/// Degenerate answers.
pub(crate) struct SaturationGuard(pub Rules<SaturationSettings>);

impl Guard for SaturationGuard {
    fn name(&self) -> GuardName {
        SaturationSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        Some(InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: format!(
                "the same answer to {} different calls in a row, texts of which one line is {:.0} %, numbers at their limit",
                settings.same,
                settings.repeated * 100.0
            ),
        })
    }

    fn before(&self, _: &mut GuardedCall<'_>) -> Verdict {
        Verdict::Allow
    }

    fn after(&self, answer: &mut Answer<'_>) -> Verdict {
        let Some(settings) = self.0.of(answer.tool) else {
            return Verdict::Allow;
        };
        let same = answer
            .history
            .same_answers(answer.tool, answer.key, answer.value);
        let reason = if same >= settings.same && says_something(answer.value) {
            format!(
                "{same} different calls in a row have got the same answer: it may not depend on the arguments"
            )
        } else if repeats(answer.value, settings.repeated) {
            "its answer is one line or character over and over".to_owned()
        } else if at_limit(answer.value) {
            "its answer has a number at the limit of its type".to_owned()
        } else {
            return Verdict::Allow;
        };
        Verdict::objection(settings.verdict, reason)
    }
}

/// `null`, a boolean, nothing found and `ok` are ordinary answers to many calls.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(_) => true,
        Value::String(text) => text.len() > 8,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(says_something),
    }
}

fn repeats(value: &Value, share: f64) -> bool {
    let found = find_text(value, &At::Top, &mut |_, text| {
        (text.len() >= LONG_TEXT && is_repeated(text, share)).then_some(())
    });
    found.is_some()
}

fn is_repeated(text: &str, share: f64) -> bool {
    let (mut bytes, mut letters) = ([0_usize; 256], 0_usize);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        bytes[usize::from(byte)] += 1;
        letters += 1;
    }
    let is_most = |most: usize, of: usize| of > 0 && most as f64 >= share * of as f64;
    if is_most(bytes.iter().copied().max().unwrap_or(0), letters) {
        return true;
    }
    let mut lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    if lines.len() < MANY_LINES {
        return false;
    }
    lines.sort_unstable();
    let most = lines
        .chunk_by(|one, other| one == other)
        .map(<[&str]>::len)
        .max();
    is_most(most.unwrap_or(0), lines.len())
}

fn at_limit(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let is_integer_limit = number
                .as_i64()
                .is_some_and(|n| n == i64::MAX || n == i64::MIN)
                || number.as_u64() == Some(u64::MAX);
            is_integer_limit || number.as_f64().is_some_and(|n| n.abs() >= 1.79e308)
        }
        Value::Array(items) => items.iter().any(at_limit),
        Value::Object(fields) => fields.values().any(at_limit),
        _ => false,
    }
}
