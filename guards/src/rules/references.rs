//! Stops references and placeholders that were not resolved: `$OUTPUT[…]`, `${VAR}`, `{{name}}`,
//! `[EMAIL_1_k3f9]`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answer, GuardedCall};
use crate::guard::{Guard, InForce, Verdict};
use crate::level::Level;
use crate::name::GuardName;
use crate::settings::{Rules, Settings};
use crate::walk::{At, find_text};

/// `pml.guards.references`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ReferencesSettings {
    verdict: Level,
    /// Whether `${VAR}` and `{{name}}` count, which are ordinary in programs and templates.
    variables: bool,
    /// Whether a reference inside of a longer text counts, or only one that is the whole text.
    in_text: bool,
}

impl Settings for ReferencesSettings {
    const NAME: GuardName = GuardName::References;

    fn strict() -> Value {
        json!({ "verdict": "block", "variables": true, "inText": true })
    }

    fn standard() -> Value {
        json!({ "verdict": "warn", "variables": false, "inText": false })
    }

    fn level(&self) -> Level {
        self.verdict
    }
}

/// References and placeholders that stand where a value should.
pub(crate) struct ReferencesGuard(pub Rules<ReferencesSettings>);

impl Guard for ReferencesGuard {
    fn name(&self) -> GuardName {
        ReferencesSettings::NAME
    }

    fn in_force(&self, tool: &str) -> Option<InForce> {
        let settings = self.0.of(tool)?;
        let variables = match settings.variables {
            true => ", variables such as `${VAR}`",
            false => "",
        };
        let place = match settings.in_text {
            true => "anywhere in a text",
            false => "that are a whole text",
        };
        Some(InForce {
            guard: self.name(),
            verdict: settings.verdict,
            rule: format!("references of plans, placeholders{variables} {place}"),
        })
    }

    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict {
        let Some(settings) = self.0.of(call.tool) else {
            return Verdict::Allow;
        };
        let found = find_text(call.arguments, &At::Top, &mut |at, text| {
            let kind = unresolved(text, settings)?;
            Some(format!(
                "`{at}` has {kind} in the place of a value: pass the value itself"
            ))
        });
        found.map_or(Verdict::Allow, |reason| {
            Verdict::objection(settings.verdict, reason)
        })
    }

    fn after(&self, _: &mut Answer<'_>) -> Verdict {
        Verdict::Allow
    }
}

/// Bytes behind the bracket in which a placeholder ends.
const MAX_PLACEHOLDER: usize = 64;
/// Bytes behind the braces in which a variable ends.
const MAX_VARIABLE: usize = 256;

/// The kind of the first reference in a text. The time is linear in the text.
fn unresolved(text: &str, settings: &ReferencesSettings) -> Option<&'static str> {
    let normalized = match text.is_ascii() {
        true => None,
        false => Some(normalized(text)),
    };
    let text = normalized.as_deref().unwrap_or(text);
    if !settings.in_text {
        // Only a reference at the start can be the whole text.
        let text = text.trim();
        let (kind, length) = reference(text, settings.variables)?;
        return (length == text.len()).then_some(kind);
    }
    let mut rest = text;
    while let Some(start) = rest.find(['$', '[', '{']) {
        let from = &rest[start..];
        if let Some((kind, _)) = reference(from, settings.variables) {
            return Some(kind);
        }
        // The three letters have one byte each.
        rest = &from[1..];
    }
    None
}

/// The reference that a text begins with, and its length.
fn reference(text: &str, variables: bool) -> Option<(&'static str, usize)> {
    plan_reference(text)
        .map(|length| ("a reference of a plan (`$OUTPUT[…]`)", length))
        .or_else(|| placeholder(text).map(|length| ("a placeholder of a private value", length)))
        .or_else(|| {
            let length = variables.then(|| variable(text)).flatten()?;
            Some(("a variable that was not filled in", length))
        })
}

/// `$OUTPUT[task].path`, `$INPUT.name` or `$ITEM`, in any case.
fn plan_reference(text: &str) -> Option<usize> {
    let body = text.strip_prefix('$')?;
    let body = body.strip_prefix('{').unwrap_or(body);
    let name = ["OUTPUT", "INPUT", "ITEM"].into_iter().find(|name| {
        body.get(..name.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(name))
    })?;
    let rest = &body[name.len()..];
    let goes_on = rest.starts_with(['[', '.']);
    let is_item = name == "ITEM" && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if !goes_on && !is_item {
        return None;
    }
    let path = |c: char| c.is_alphanumeric() || "_-.[]*'\"}".contains(c);
    let end = rest.find(|c: char| !path(c)).unwrap_or(rest.len());
    Some(text.len() - rest.len() + end)
}

/// `[EMAIL_1_k3f9]`, `[EMAIL]` with a number, or `[EMAIL#5f2b8c01d3aa]`.
fn placeholder(text: &str) -> Option<usize> {
    let body = text.strip_prefix('[')?;
    let end = body[..body.floor_char_boundary(MAX_PLACEHOLDER)].find(']')?;
    let inner = &body[..end];
    let length = end + 2;
    if let Some((kind, hash)) = inner.split_once('#') {
        let is_hash = hash.len() >= 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        return (is_kind(kind) && is_hash).then_some(length);
    }
    let (head, code) = inner.rsplit_once('_')?;
    let (kind, number) = match head.rsplit_once('_') {
        Some((kind, number)) if is_number(number) => (kind, number),
        // `[EMAIL_1]`
        _ => return (is_kind(head) && is_number(code)).then_some(length),
    };
    let is_code = code.len() == 4 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_kind(kind) && is_number(number) && is_code).then_some(length)
}

fn is_kind(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `${VAR}`, `${secret:…}` or `{{name}}`.
fn variable(text: &str) -> Option<usize> {
    let (open, close) = match text.starts_with("${") {
        true => (2, "}"),
        false => (text.starts_with("{{").then_some(2)?, "}}"),
    };
    let body = &text[open..];
    let body = &body[..body.floor_char_boundary(MAX_VARIABLE)];
    let inner = body.trim_start();
    let end = inner.find(|c: char| !(c.is_alphanumeric() || "_-.:/ ".contains(c)))?;
    let name = inner[..end].trim();
    let behind = inner[end..].trim_start().strip_prefix(close)?;
    (!name.is_empty() && name.len() <= 128).then(|| open + body.len() - behind.len())
}

/// The text with full-width letters as ASCII, and without characters that are not seen.
fn normalized(text: &str) -> String {
    let seen = text.chars().filter(
        |c| !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}'),
    );
    seen.map(|c| match u32::from(c) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(c),
        _ => c,
    })
    .collect()
}
