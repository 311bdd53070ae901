//! What a session has done: what guards have to remember between calls.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::walk::{digest, digest_of_call};

/// Calls and tools that are remembered of a session. Beyond, the older half of the counted calls is
/// forgotten.
const MAX_ENTRIES: usize = 4_096;
/// Texts and numbers in answers that are remembered, where the operator has rules about them.
const MAX_VALUES: usize = 100_000;

/// The digest of a tool and its arguments. It tells calls of one process apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallKey(u64);

impl CallKey {
    /// The key of a call.
    pub fn new(tool: &str, arguments: &Value) -> Self {
        Self::without(tool, arguments, None)
    }

    /// The key of a call, without one of its arguments.
    pub fn without(tool: &str, arguments: &Value, left_out: Option<&str>) -> Self {
        Self(digest_of_call(tool, arguments, left_out))
    }
}

/// What a session has done. Cheap to clone; clones are the same history.
#[derive(Debug, Clone, Default)]
pub struct History(Arc<Mutex<State>>);

#[derive(Debug, Clone, Default)]
struct State {
    /// How often each call was made, and when the counting began.
    calls: HashMap<CallKey, Counted>,
    tools: HashMap<String, Counted>,
    /// Calls with effects that were sent and have no answer.
    unanswered: HashSet<CallKey>,
    /// Tools that have answered with a value.
    succeeded: HashSet<String>,
    /// The digests of the texts and numbers in answers, by the tool.
    values: HashMap<String, HashSet<u64>>,
    kept_values: usize,
    /// The last answer of each tool.
    answers: HashMap<String, LastAnswer>,
}

#[derive(Debug, Clone, Copy)]
struct Counted {
    count: u32,
    since: Instant,
}

#[derive(Debug, Clone, Default)]
struct LastAnswer {
    digest: u64,
    /// The calls that got it.
    calls: HashSet<CallKey>,
}

impl History {
    /// The same history as it is now, for a dry run: what is added here is not added there.
    #[must_use]
    pub fn forked(&self) -> Self {
        Self(Arc::new(Mutex::new(self.lock().clone())))
    }

    /// Counts a call. Returns how often it was made within `window`, and how often its tool was called.
    pub(crate) fn count(&self, key: CallKey, tool: &str, window: Duration) -> (u32, u32) {
        let (mut state, now) = (self.lock(), Instant::now());
        if state.calls.len() >= MAX_ENTRIES {
            let mut since: Vec<Instant> = state.calls.values().map(|call| call.since).collect();
            since.sort_unstable();
            let middle = since[since.len() / 2];
            state.calls.retain(|_, call| call.since > middle);
        }
        let fresh = Counted {
            count: 0,
            since: now,
        };
        let calls = counted(state.calls.entry(key).or_insert(fresh), now, window);
        // Only tools that exist are counted.
        let of_tool = match state.tools.get_mut(tool) {
            Some(known) => known,
            None => state.tools.entry(tool.to_owned()).or_insert(fresh),
        };
        (calls, counted(of_tool, now, window))
    }

    /// Whether the same call was sent before and has no answer.
    pub(crate) fn is_unanswered(&self, key: CallKey) -> bool {
        self.lock().unanswered.contains(&key)
    }

    /// Whether one of the tools that fit has answered with a value.
    pub(crate) fn has_succeeded(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.lock().succeeded.iter().any(|tool| fits(tool))
    }

    /// Whether an answer of one of the tools that fit had this value.
    pub(crate) fn has_value(&self, value: &Value, fits: impl Fn(&str) -> bool) -> bool {
        let (state, digest) = (self.lock(), digest(value));
        let mut sources = state.values.iter().filter(|(tool, _)| fits(tool));
        sources.any(|(_, values)| values.contains(&digest))
    }

    /// A tool has answered with a value.
    pub fn succeeded(&self, tool: &str) {
        let mut state = self.lock();
        if !state.succeeded.contains(tool) && state.succeeded.len() < MAX_ENTRIES {
            state.succeeded.insert(tool.to_owned());
        }
    }

    /// Remembers the texts and numbers in the answer of a tool.
    pub(crate) fn keep_values(&self, tool: &str, answer: &Value) {
        let mut state = self.lock();
        let State {
            values,
            kept_values,
            ..
        } = &mut *state;
        let known = values.entry(tool.to_owned()).or_default();
        keep(answer, known, kept_values);
    }

    /// Compares an answer of a tool with the last one. Returns how many different calls in a row got it.
    pub(crate) fn same_answers(&self, tool: &str, key: CallKey, answer: &Value) -> usize {
        let (mut state, digest) = (self.lock(), digest(answer));
        let last = state.answers.entry(tool.to_owned()).or_default();
        if last.digest != digest {
            last.calls.clear();
        }
        last.digest = digest;
        if last.calls.len() < MAX_ENTRIES {
            last.calls.insert(key);
        }
        last.calls.len()
    }

    /// A call was sent and its answer is lost: it may have had its effect.
    pub fn answer_lost(&self, key: CallKey) {
        let mut state = self.lock();
        if state.unanswered.len() < MAX_ENTRIES {
            state.unanswered.insert(key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is whole when a panic could happen.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn counted(entry: &mut Counted, now: Instant, window: Duration) -> u32 {
    if now.saturating_duration_since(entry.since) > window {
        *entry = Counted {
            count: 0,
            since: now,
        };
    }
    entry.count = entry.count.saturating_add(1);
    entry.count
}

fn keep(value: &Value, known: &mut HashSet<u64>, kept: &mut usize) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| keep(item, known, kept)),
        Value::Object(fields) => fields.values().for_each(|value| keep(value, known, kept)),
        Value::String(text) if text.is_empty() => {}
        Value::String(_) | Value::Number(_) if *kept < MAX_VALUES => {
            *kept += usize::from(known.insert(digest(value)));
        }
        _ => {}
    }
}
