//! Makes scrubbed replies of outcomes and tool results.

use std::collections::BTreeSet;
use std::sync::{Arc, MutexGuard};

use pml_protocol::{ErrorKind, Failure, Limits, Outcome, RunError, Stats, ToolResult};
use pml_scrub::{Kind, PlaceholderMap, PlaceholderTurn, ScrubError, Scrubbed, SharedPlaceholders};
use serde_json::{Value, json};

use crate::reply_parts::ReplyParts;
use crate::run_reply::RunReply;

/// Stores a result that is too large to show, and returns its handle; `None` if it does not fit.
pub type KeepResult = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Scrubs everything that one client reads. Clones serve the same client.
#[derive(Clone)]
pub struct ReplyScrubber {
    placeholders: SharedPlaceholders,
    reader: Reader,
}

#[derive(Clone)]
pub(crate) enum Reader {
    /// Gets as little text as possible: a large result becomes a handle, media travel beside the
    /// text, equal calls are summed up, logs are cut.
    Model { keep: KeepResult },
    /// Gets the whole outcome. A result over the limit is an error.
    Person,
}

impl ReplyScrubber {
    /// Replies for a model.
    pub fn for_model(placeholders: SharedPlaceholders, keep: KeepResult) -> Self {
        Self {
            placeholders,
            reader: Reader::Model { keep },
        }
    }

    /// Replies for the person, or the program, that started the run and asked for scrubbing. Without
    /// scrubbing there is no reply to make: [`limit_output`] is all that happens to the outcome.
    pub fn for_person(placeholders: SharedPlaceholders) -> Self {
        Self {
            placeholders,
            reader: Reader::Person,
        }
    }

    /// Waits until no other task scrubs for this client. Tasks of an event loop hold it while they call
    /// the other methods, which otherwise block the thread.
    pub async fn turn(&self) -> PlaceholderTurn {
        self.placeholders.turn().await
    }

    /// A scrubbed text: progress, a log line, an error message. If the policy blocks a value in it, the
    /// refusal takes its place.
    pub fn text(&self, text: &str) -> Scrubbed<String> {
        self.lock()
            .scrub_text(text, None)
            .unwrap_or_else(|refusal| (&refusal).into())
    }

    /// The first `chars` characters of a text.
    pub fn beginning(&self, text: &str, chars: usize) -> Scrubbed<String> {
        self.lock()
            .scrub_beginning(text, None, chars)
            .unwrap_or_else(|refusal| (&refusal).into())
    }

    /// Whether the policy asks a person about any kind.
    pub fn may_ask(&self) -> bool {
        self.lock().may_ask()
    }

    /// The kinds in a result, which is JSON, and in other texts of a reply, that a person has to decide about
    /// first.
    pub fn undecided(
        &self,
        result: Option<&str>,
        texts: &[String],
        tool: Option<&str>,
    ) -> BTreeSet<Kind> {
        let map = self.lock();
        let value = result.and_then(|json| serde_json::from_str::<Value>(json).ok());
        let mut kinds = value.map_or_else(BTreeSet::new, |value| map.undecided_json(&value, tool));
        for text in texts {
            kinds.extend(map.undecided_text(text));
        }
        kinds
    }

    /// Notes what the person decided about a kind: its values are shown from now on, or redacted.
    pub fn decide(&self, kind: Kind, show: bool) {
        self.lock().decide(kind, show);
    }

    /// The reply to a run.
    pub fn outcome(&self, outcome: Outcome, limits: &Limits) -> RunReply {
        let outcome = match self.reader {
            Reader::Model { .. } => outcome,
            Reader::Person => limit_output(outcome, limits),
        };
        let stats = outcome.stats;
        let run = match self.reader {
            // A model needs the id of a run that is not over.
            Reader::Model { .. } if outcome.ok => None,
            _ => outcome.run.clone(),
        };
        let reply = self.reply(stats, |parts| parts.outcome(outcome, limits));
        RunReply { run, ..reply }
    }

    /// The reply to one call that was made without a script. A result that is `held` is shown as its shape
    /// and size.
    pub fn call(&self, tool: &str, result: ToolResult, limits: &Limits, held: bool) -> RunReply {
        self.reply(Stats::default(), |parts| {
            if let (true, Reader::Model { keep }, Ok(value)) = (held, &self.reader, &result) {
                let outcome = Outcome {
                    ok: true,
                    result: Some(value.clone()),
                    ..Outcome::default()
                };
                return parts.held(keep, outcome);
            }
            parts.tool = Some(tool);
            parts.reply.ok = result.is_ok();
            match result {
                Ok(value) => parts.result(&value, limits),
                Err(failure) => parts.error(without_hint(&failure)),
            }
        })
    }

    /// Makes a reply of parts that share their known values: what is private in one of them is
    /// replaced in all.
    fn reply<'a>(
        &'a self,
        stats: Stats,
        add: impl FnOnce(&mut ReplyParts<'a, '_>) -> Result<(), ScrubError>,
    ) -> RunReply {
        let reply = self.lock().scrub_reply(|placeholders| {
            let mut parts = ReplyParts {
                placeholders,
                reader: &self.reader,
                tool: None,
                result: None,
                reply: RunReply::new(true, stats),
            };
            add(&mut parts)?;
            parts.finish()
        });
        reply.unwrap_or_else(|refusal| RunReply::blocked(&refusal, stats))
    }

    fn lock(&self) -> MutexGuard<'_, PlaceholderMap> {
        self.placeholders.lock()
    }
}

/// Whether a result is over the output limit.
pub fn is_over_output(json: &str, limits: &Limits) -> bool {
    // There are never more characters than bytes, so most results need no counting.
    let limit = limits.output_chars;
    json.len() as u64 > limit && json.chars().count() as u64 > limit
}

/// A result that is over the output limit ends the run with `output`.
pub fn limit_output(mut outcome: Outcome, limits: &Limits) -> Outcome {
    let limit = limits.output_chars;
    let Some(result) = &outcome.result else {
        return outcome;
    };
    let text = result.get();
    if !is_over_output(text, limits) {
        return outcome;
    }
    let chars = text.chars().count();
    let bytes = text.len() as u64;
    let message = format!("the result has {chars} characters; the limit is {limit}");
    outcome.ok = false;
    outcome.result = None;
    outcome.truncated = Some(pml_protocol::Truncated { bytes });
    outcome.error = Some(RunError::new(ErrorKind::Output, message));
    outcome
}

/// The failure of a call. Its hint is for scripts.
fn without_hint(failure: &Failure) -> Value {
    json!(Failure {
        hint: None,
        ..failure.clone()
    })
}
