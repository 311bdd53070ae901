//! `reconcile`: the question that tells whether a guarded call happened.
//!
//! Its arguments are a template over the arguments of the call in question: `$ARGS`, `$ARGS.a.b`,
//! `$ARGS.items[0]`, `$ARGS["any name"]`. A reference that is the whole string keeps its JSON type;
//! inside a longer string it is text. `$$` is a dollar sign. Any other `$` before a capital letter is
//! refused while the file is read: a mistyped reference would ask about another call.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::{Map, Value};

use crate::ToolId;

/// A tool without effects, and arguments with which it tells whether a guarded call happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Reconcile {
    tool: ToolId,
    template: Map<String, Value>,
}

/// A reference to an argument that the call does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the call has no argument `{reference}`, which `reconcile` in `pml.effects` refers to: change `reconcile.args`, or settle the call by hand"
)]
pub struct UnresolvedReference {
    /// The reference as it is written.
    pub reference: String,
}

impl Reconcile {
    /// The tool to ask.
    pub fn tool(&self) -> &ToolId {
        &self.tool
    }

    /// The arguments for the question about a call with the arguments `call`.
    ///
    /// # Errors
    /// The call does not have an argument that is referred to.
    pub fn arguments(&self, call: &Value) -> Result<Value, UnresolvedReference> {
        let resolved = self
            .template
            .iter()
            .map(|(name, value)| Ok((name.clone(), resolve(value, call)?)));
        Ok(Value::Object(resolved.collect::<Result<_, _>>()?))
    }
}

impl<'de> Deserialize<'de> for Reconcile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            tool: ToolId,
            #[serde(default)]
            args: Template,
        }

        let written = Written::deserialize(deserializer)?;
        Ok(Self {
            tool: written.tool,
            template: written.args.0,
        })
    }
}

/// Arguments whose references are well-formed.
#[derive(Default)]
struct Template(Map<String, Value>);

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let template = Map::deserialize(deserializer)?;
        template
            .values()
            .try_for_each(check)
            .map_err(D::Error::custom)?;
        Ok(Self(template))
    }
}

fn check(value: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => pieces(text).map(drop),
        Value::Array(items) => items.iter().try_for_each(check),
        Value::Object(members) => members.values().try_for_each(check),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn resolve(value: &Value, call: &Value) -> Result<Value, UnresolvedReference> {
    Ok(match value {
        Value::String(text) => resolve_text(text, call)?,
        Value::Array(items) => {
            let items = items.iter().map(|item| resolve(item, call));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| Ok((name.clone(), resolve(member, call)?)));
            Value::Object(members.collect::<Result<_, _>>()?)
        }
        plain => plain.clone(),
    })
}

fn resolve_text(text: &str, call: &Value) -> Result<Value, UnresolvedReference> {
    // Malformed references were refused while the file was read.
    let pieces = pieces(text).unwrap_or_else(|_| vec![Piece::Text(text)]);
    if let [Piece::Reference(reference)] = &pieces[..] {
        return reference.value(call).cloned();
    }
    let mut resolved = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => resolved.push_str(text),
            Piece::Reference(reference) => match reference.value(call)? {
                Value::String(text) => resolved.push_str(text),
                other => resolved.push_str(&other.to_string()),
            },
        }
    }
    Ok(Value::String(resolved))
}

/// A part of a template string.
enum Piece<'a> {
    Text(&'a str),
    Reference(Reference<'a>),
}

struct Reference<'a> {
    written: &'a str,
    steps: Vec<Step<'a>>,
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Reference<'_> {
    fn value<'v>(&self, call: &'v Value) -> Result<&'v Value, UnresolvedReference> {
        let step = |value: &'v Value, step: &Step<'_>| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(index),
        };
        self.steps
            .iter()
            .try_fold(call, step)
            .ok_or_else(|| UnresolvedReference {
                reference: self.written.to_owned(),
            })
    }
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        let (before, from) = rest.split_at(dollar);
        let after = &from[1..];
        if let Some(escaped) = after.strip_prefix('$') {
            pieces.push(Piece::Text(&rest[..=dollar]));
            rest = escaped;
            continue;
        }
        if !after.starts_with(|c: char| c.is_ascii_uppercase()) {
            pieces.push(Piece::Text(&rest[..=dollar]));
            rest = after;
            continue;
        }
        let (name, tail) = word(after);
        if name != "ARGS" {
            return Err(format!(
                "unknown reference `${name}`: arguments of the call are `$ARGS.name`, and a dollar sign is `$$`"
            ));
        }
        let (steps, tail) = path(tail)?;
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(Piece::Reference(Reference {
            written: &from[..from.len() - tail.len()],
            steps,
        }));
        rest = tail;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// The steps at the beginning of `rest`, and what follows them. A dot without a name after it is text:
/// it ends a sentence.
fn path(mut rest: &str) -> Result<(Vec<Step<'_>>, &str), String> {
    let mut steps = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix('.') {
            let (name, tail) = word(after);
            if name.is_empty() {
                return Ok((steps, rest));
            }
            steps.push(Step::Key(name));
            rest = tail;
        } else if let Some(after) = rest.strip_prefix('[') {
            let (inside, tail) = bracketed(after).ok_or_else(|| {
                format!("invalid reference `$ARGS…{rest}`: expected `[0]` or `[\"name\"]`")
            })?;
            steps.push(inside);
            rest = tail;
        } else {
            return Ok((steps, rest));
        }
    }
}

fn bracketed(after: &str) -> Option<(Step<'_>, &str)> {
    if let Some(quoted) = after.strip_prefix('"') {
        let (name, tail) = quoted.split_once("\"]")?;
        return Some((Step::Key(name), tail));
    }
    let (index, tail) = after.split_once(']')?;
    Some((Step::Index(index.parse().ok()?), tail))
}

/// The letters, digits and underscores at the beginning, and the rest.
fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reconcile(args: Value) -> Result<Reconcile, serde_json::Error> {
        serde_json::from_value(json!({ "tool": "mail:find", "args": args }))
    }

    fn asked(args: Value, call: Value) -> Result<Value, String> {
        let reconcile = reconcile(args).unwrap();
        reconcile
            .arguments(&call)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_reference_that_is_the_whole_string_keeps_its_type() {
        let call = json!({ "to": { "id": 7 }, "items": [{ "n": 1.5 }, null], "user-id": true });
        let args = json!({
            "all": "$ARGS", "id": "$ARGS.to.id", "n": ["$ARGS.items[0].n"],
            "none": "$ARGS.items[1]", "user": { "is": "$ARGS[\"user-id\"]" }, "limit": 1
        });
        assert_eq!(
            asked(args, call.clone()),
            Ok(json!({
                "all": call, "id": 7, "n": [1.5], "none": null, "user": { "is": true }, "limit": 1
            }))
        );
    }

    #[test]
    fn a_reference_inside_a_longer_string_is_text() {
        let args = json!({ "query": "to:$ARGS.to, $ARGS.n of $ARGS.list. $$5 or $6 $" });
        let call = json!({ "to": "a@b.test", "n": 3, "list": ["x"] });
        assert_eq!(
            asked(args, call),
            Ok(json!({ "query": "to:a@b.test, 3 of [\"x\"]. $5 or $6 $" }))
        );
    }

    #[test]
    fn an_argument_that_the_call_does_not_have_is_an_error_with_its_reference() {
        for reference in ["$ARGS.subject", "$ARGS.items[2]", "$ARGS.items.x"] {
            let error = asked(json!({ "s": reference }), json!({ "items": [1] })).unwrap_err();
            assert!(error.contains(&format!("`{reference}`")), "{error}");
        }
    }

    #[test]
    fn a_malformed_reference_is_refused_while_the_file_is_read() {
        for (args, reason) in [
            (json!({ "s": "$ARG.subject" }), "unknown reference `$ARG`"),
            (json!({ "s": ["$INPUT.x"] }), "unknown reference `$INPUT`"),
            (json!({ "s": "$ARGS[x]" }), "expected `[0]`"),
            (json!({ "s": "$ARGS.a[" }), "expected `[0]`"),
            (json!("$ARGS"), "expected a map"),
        ] {
            let error = reconcile(args).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        let none: Reconcile = serde_json::from_value(json!({ "tool": "mail:find" })).unwrap();
        assert_eq!(none.arguments(&json!({ "a": 1 })), Ok(json!({})));
    }
}
