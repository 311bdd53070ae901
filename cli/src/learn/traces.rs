//! From the calls of a run to its trace: which values came from where, and none of the values that are
//! private.

use pml_gateway::Gateway;
use pml_hosts::CallsOfRun;
use pml_learn::{Argument, Source, Trace, TracedCall, TracedRun};
use pml_scrub::Scrubber;
use pml_workflow::{RecordedCall, plan_of_calls};
use serde_json::Value;

use crate::tool_cache::unix_seconds;

/// Characters of an intent that are kept.
const MAX_INTENT_CHARS: usize = 500;
/// Bytes of the JSON of a constant that is kept.
const MAX_CONSTANT_BYTES: usize = 64;
/// Arguments of a call that are kept.
const MAX_ARGUMENTS: usize = 32;
/// Characters of a value that is looked for in the intent, at least.
const MIN_INTENT_VALUE: usize = 3;
/// Descriptions of tools that are the intent of a run without any words.
const DESCRIPTIONS: usize = 5;

/// The trace of a run. `about` is its intent if it searched for nothing.
pub fn trace(
    run: &CallsOfRun,
    about: Option<&str>,
    gateway: Option<&Gateway>,
    scrubber: &Scrubber,
) -> Trace {
    let words = match (run.queries.is_empty(), about) {
        (false, _) => run.queries.join(". "),
        (true, Some(about)) => about.to_owned(),
        (true, None) => descriptions(run, gateway),
    };
    let intent = public_words(&words, scrubber);
    let calls: Vec<RecordedCall> = run
        .calls
        .iter()
        .map(|call| RecordedCall {
            tool: call.tool.clone(),
            args: call.args(),
            result: call.ok.then(|| call.result()),
            has_effect: false,
        })
        .collect();
    let plan = plan_of_calls(&calls, None);
    let mut tasks = plan["tasks"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter();
    let traced = run.calls.iter().zip(&calls).map(|(call, recorded)| {
        // The plan leaves failed calls out.
        let task = call.ok.then(|| tasks.next()).flatten();
        let values = Values {
            intent: &intent,
            scrubber: (!scrubber.has_rules_for(&call.tool)).then_some(scrubber),
        };
        let mut arguments = Vec::new();
        if let Some(task) = task {
            values.read(&task["args"], &recorded.args, String::new(), &mut arguments);
        }
        arguments.truncate(MAX_ARGUMENTS);
        TracedCall {
            tool: call.tool.clone(),
            ok: call.ok,
            ms: u64::try_from(call.time.as_millis()).unwrap_or(u64::MAX),
            arguments,
        }
    });
    let calls = traced.collect();
    let run = TracedRun {
        tenant: run.run.tenant().to_string(),
        principal: run.run.principal().to_string(),
        at: unix_seconds(),
        ok: run.ok.unwrap_or_default(),
        intent,
    };
    Trace::new(run, calls)
}

/// What the tools of a run do: the first sentences of their descriptions.
fn descriptions(run: &CallsOfRun, gateway: Option<&Gateway>) -> String {
    let tools = gateway.map(Gateway::tools).unwrap_or_default();
    let mut sentences: Vec<&str> = Vec::new();
    for call in &run.calls {
        let tool = tools.iter().find(|tool| tool.id.as_str() == call.tool);
        let text = tool.map_or("", |tool| tool.description.trim());
        let sentence = text.split(['.', '\n']).next().unwrap_or_default();
        if !sentence.is_empty() && !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences.truncate(DESCRIPTIONS);
    sentences.join(". ")
}

/// The text without the words in which the scrubber finds private data; empty if it still finds some.
fn public_words(text: &str, scrubber: &Scrubber) -> String {
    let text: String = text.chars().take(MAX_INTENT_CHARS).collect();
    if scrubber.find(&text, None).is_empty() {
        return text;
    }
    let is_public = |word: &&str| scrubber.find(word, None).is_empty();
    let words: Vec<&str> = text.split_whitespace().filter(is_public).collect();
    let words = words.join(" ");
    match scrubber.find(&words, None).is_empty() {
        true => words,
        false => String::new(),
    }
}

/// How the values of one call are read.
struct Values<'a> {
    intent: &'a str,
    /// `None` for a tool with rules of its own: none of its values is kept.
    scrubber: Option<&'a Scrubber>,
}

impl Values<'_> {
    /// `plan` has references to results where the call had `written`.
    fn read(&self, plan: &Value, written: &Value, path: String, found: &mut Vec<Argument>) {
        if found.len() >= MAX_ARGUMENTS {
            return;
        }
        if let Some(source) = plan.as_str().and_then(reference) {
            let source = self.public_source(source);
            found.push(Argument { path, source });
            return;
        }
        match (plan, written) {
            (Value::Object(plan), Value::Object(written)) => {
                for (key, value) in written {
                    let at = match path.is_empty() {
                        true => key.clone(),
                        false => format!("{path}.{key}"),
                    };
                    let plan = plan.get(key).unwrap_or(value);
                    // A key can be private as well, where an object is a map.
                    if self.is_public(key) {
                        self.read(plan, value, at, found);
                    }
                }
            }
            (Value::Array(plan), Value::Array(written)) => {
                let reference = plan
                    .iter()
                    .find_map(|item| item.as_str().and_then(reference));
                let source = match reference {
                    Some(source) => self.public_source(source),
                    None => self.source(&written.as_slice().into(), last_key(&path)),
                };
                found.push(Argument { path, source });
            }
            _ if path.is_empty() => {}
            _ => {
                let source = self.source(written, last_key(&path));
                found.push(Argument { path, source });
            }
        }
    }

    /// The keys of a result can be private where an object is a map.
    fn public_source(&self, source: Source) -> Source {
        let is_public = match (&source, self.scrubber) {
            (Source::Result { path, .. }, Some(scrubber)) => scrubber.find(path, None).is_empty(),
            (Source::Result { .. }, None) => false,
            _ => true,
        };
        match is_public {
            true => source,
            false => Source::Other,
        }
    }

    /// `key` says what the value is: a password is found by it alone.
    fn source(&self, value: &Value, key: &str) -> Source {
        if let Value::String(text) = value
            && text.chars().count() >= MIN_INTENT_VALUE
            && self.intent.to_lowercase().contains(&text.to_lowercase())
        {
            return Source::Intent;
        }
        let json = value.to_string();
        let is_small = json.len() <= MAX_CONSTANT_BYTES;
        match is_small && self.is_public(&json) && self.is_public_below(key, value) {
            true => Source::Constant(json),
            false => Source::Other,
        }
    }

    fn is_public_below(&self, key: &str, value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().all(|item| self.is_public_below(key, item)),
            Value::Object(fields) => fields
                .iter()
                .all(|(key, field)| self.is_public_below(key, field)),
            _ => {
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                self.scrubber
                    .is_some_and(|scrubber| scrubber.find(&text, Some(key)).is_empty())
            }
        }
    }

    fn is_public(&self, text: &str) -> bool {
        // A placeholder of the scrubber: `[EMAIL_1_k3f9]`.
        let is_placeholder = text.contains('[') && text.contains('_') && text.contains(']');
        let found = |scrubber: &Scrubber| scrubber.find(text, None).is_empty();
        !is_placeholder && self.scrubber.is_some_and(found)
    }
}

/// The last key of `a.b.c`.
fn last_key(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

/// `$OUTPUT[t2].files[0].path`: the second call, `files[*].path`.
fn reference(text: &str) -> Option<Source> {
    let rest = text.strip_prefix("$OUTPUT[t")?;
    let (number, path) = rest.split_once(']')?;
    let step = number.parse::<usize>().ok()?.checked_sub(1)?;
    let path = path.strip_prefix('.').unwrap_or(path);
    Some(Source::Result {
        step,
        path: any_index(path),
    })
}

/// The path with `[*]` in the place of numbers.
fn any_index(path: &str) -> String {
    let mut parts = path.split('[');
    let mut any = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part
            .find(']')
            .filter(|end| *end > 0 && part.as_bytes()[..*end].iter().all(u8::is_ascii_digit));
        any.push('[');
        match digits {
            Some(end) => {
                any.push('*');
                any.push_str(&part[end..]);
            }
            None => any.push_str(part),
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use pml_hosts::{ReturnedCall, RunCalls, ScriptObserver};
    use pml_protocol::{RunContext, to_result};
    use pml_scrub::ScrubConfig;
    use serde_json::json;

    use super::*;

    fn traced(query: &str, calls: &[(&str, Value, Value)]) -> Trace {
        let runs = Arc::new(RunCalls::default());
        let run = RunContext::local();
        runs.searched(&run, query);
        for (tool, args, result) in calls {
            let (args, result) = (to_result(args).unwrap(), to_result(result));
            let call = ReturnedCall {
                tool,
                args: &args,
                result: &result,
                time: Duration::from_millis(7),
            };
            runs.call_returned(&run, &call);
        }
        runs.ended(run.id(), true);
        let ended = runs.take_ended();
        let scrubber = Scrubber::new(&ScrubConfig::default()).unwrap();
        trace(&ended[0], None, None, &scrubber)
    }

    #[test]
    fn a_trace_says_where_values_came_from() {
        let trace = traced(
            "show the files of reports",
            &[
                (
                    "fs:list",
                    json!({ "folder": "reports", "deep": true }),
                    json!({ "files": [{ "path": "reports/may.txt" }] }),
                ),
                (
                    "fs:read",
                    json!({ "path": "reports/may.txt" }),
                    json!("text"),
                ),
            ],
        );
        let argument = |call: usize, path: &str| {
            let mut arguments = trace.calls[call].arguments.iter();
            arguments
                .find(|one| one.path == path)
                .map(|one| one.source.clone())
        };
        assert_eq!(argument(0, "folder"), Some(Source::Intent));
        assert_eq!(argument(0, "deep"), Some(Source::Constant("true".into())));
        let from = Source::Result {
            step: 0,
            path: "files[*].path".into(),
        };
        assert_eq!(argument(1, "path"), Some(from));
        let episode = trace.episode().unwrap();
        assert_eq!(episode.edges, [(0, 1)]);
        assert_eq!(Trace::parse(&trace.line()).unwrap(), trace);
    }

    #[test]
    fn private_keys_of_results_and_values_that_only_their_keys_betray_are_not_kept() {
        let trace = traced(
            "log in",
            &[
                (
                    "crm:find",
                    json!({}),
                    json!({ "jane.doe@example.com": { "id": "u-12345" } }),
                ),
                (
                    "db:connect",
                    json!({ "id": "u-12345", "password": "hunter2hunter2", "mode": "fast" }),
                    json!(true),
                ),
            ],
        );
        let line = trace.line();
        assert!(!line.contains("jane.doe"), "{line}");
        assert!(!line.contains("hunter2"), "{line}");
        assert!(line.contains("fast"), "{line}");
    }

    #[test]
    fn private_values_are_in_no_part_of_a_trace() {
        let trace = traced(
            "write to jane.doe@example.com about the bill",
            &[(
                "mail:send",
                json!({
                    "to": "jane.doe@example.com",
                    "cards": ["4111 1111 1111 1111"],
                    "by": { "jane.doe@example.com": true },
                }),
                json!({ "sent": "jane.doe@example.com" }),
            )],
        );
        let line = trace.line();
        assert!(!line.contains("jane.doe"), "{line}");
        assert!(!line.contains("4111"), "{line}");
        assert!(trace.intent.contains("about the bill"), "{line}");
    }
}
