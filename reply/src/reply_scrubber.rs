//! Makes scrubbed replies of outcomes and tool results.

use std::sync::{Arc, MutexGuard};

use pml_protocol::{
    CallRecord, ErrorKind, Failure, Limits, LogLine, Outcome, RunError, Stats, ToolResult,
};
use pml_scrub::{PlaceholderMap, ScrubError, Scrubbed, SharedPlaceholders};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::run_reply::{ReplyCalls, ReplyError, ReplyLine, RunReply, Truncation};
use crate::{blocks, logs};

/// How many characters of a truncated result are shown.
const PREVIEW_CHARS: usize = 600;

/// Stores a result that is too large to show, and returns its handle; `None` if it does not fit.
pub type KeepResult = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Scrubs everything that one client reads. Clones serve the same client.
#[derive(Clone)]
pub struct ReplyScrubber {
    placeholders: SharedPlaceholders,
    reader: Reader,
}

#[derive(Clone)]
enum Reader {
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

    /// The reply to a run.
    pub fn outcome(&self, outcome: Outcome, limits: &Limits) -> RunReply {
        let outcome = match self.reader {
            Reader::Model { .. } => outcome,
            Reader::Person => limit_output(outcome, limits),
        };
        let stats = outcome.stats;
        self.reply(outcome, limits)
            .unwrap_or_else(|refusal| RunReply::blocked(&refusal, stats))
    }

    /// The reply to one call that was made without a script.
    pub fn call(&self, tool: &str, result: ToolResult, limits: &Limits) -> RunReply {
        let mut reply = RunReply::new(result.is_ok(), Stats::default());
        let replied = match result {
            Ok(value) => self.result(&mut reply, &value, Some(tool), limits),
            Err(failure) => self.error(&mut reply, without_hint(&failure), Some(tool)),
        };
        match replied {
            Ok(()) => reply,
            Err(refusal) => RunReply::blocked(&refusal, Stats::default()),
        }
    }

    fn reply(&self, outcome: Outcome, limits: &Limits) -> Result<RunReply, ScrubError> {
        let mut reply = RunReply::new(outcome.ok, outcome.stats);
        match (&outcome.result, &self.reader) {
            (Some(result), _) if outcome.ok => self.result(&mut reply, result, None, limits)?,
            (None, Reader::Model { .. }) if outcome.ok => {
                self.result(&mut reply, RawValue::NULL, None, limits)?;
            }
            _ => {}
        }
        if let Some(truncated) = &outcome.truncated {
            reply.truncated = Some(Truncation {
                bytes: usize::try_from(truncated.bytes).unwrap_or(usize::MAX),
                handle: None,
                preview: "".into(),
                hint: String::new(),
            });
        }
        if let Some(error) = outcome.error {
            self.error(&mut reply, self.shown(error), None)?;
        }
        self.logs(&mut reply, &outcome.logs, limits)?;
        self.calls(&mut reply, &outcome.calls)?;
        Ok(reply)
    }

    fn result(
        &self,
        reply: &mut RunReply,
        result: &RawValue,
        tool: Option<&str>,
        limits: &Limits,
    ) -> Result<(), ScrubError> {
        let Reader::Model { keep } = &self.reader else {
            let scrubbed = self.lock().scrub_json(parse(result), tool)?.to_json();
            reply.count(scrubbed.report());
            reply.result = Some(scrubbed);
            return Ok(());
        };
        let limit = usize::try_from(limits.output_chars).unwrap_or(usize::MAX);
        let whole = result.get();
        // Over the output limit and free of media blocks: keep it without parsing.
        if is_over(whole, limit) && !blocks::may_be_in(whole) {
            reply.truncated = Some(self.truncate(keep, whole, whole, tool, limit)?);
            return Ok(());
        }
        let mut value = parse(result);
        reply.blocks = blocks::take(&mut value, &mut self.lock())?;
        let text = value.to_string();
        if is_over(&text, limit) {
            reply.truncated = Some(self.truncate(keep, whole, &text, tool, limit)?);
            return Ok(());
        }
        let scrubbed = self.lock().scrub_json(value, tool)?;
        reply.count(scrubbed.report());
        reply.result = Some(scrubbed.to_json());
        Ok(())
    }

    fn truncate(
        &self,
        keep: &KeepResult,
        whole: &str,
        text: &str,
        tool: Option<&str>,
        limit: usize,
    ) -> Result<Truncation, ScrubError> {
        let handle = keep(whole);
        let chars = PREVIEW_CHARS.min(limit);
        let preview = self.lock().scrub_beginning(text, tool, chars)?;
        let hint = match &handle {
            Some(handle) => format!(
                "Too large to show. In another script, `await load(\"{handle}\")` gives all of it: filter it there."
            ),
            None => "Too large to show, and too large to keep: return less.".to_owned(),
        };
        Ok(Truncation {
            bytes: whole.len(),
            handle,
            preview,
            hint,
        })
    }

    /// The error as this reader needs it. To a model the stack says nothing that the code frame
    /// does not.
    fn shown(&self, error: RunError) -> Value {
        match self.reader {
            Reader::Person => json!(error),
            Reader::Model { .. } => {
                let stack = error.stack.filter(|_| error.frame.is_none());
                json!(RunError { stack, ..error })
            }
        }
    }

    fn error(
        &self,
        reply: &mut RunReply,
        error: Value,
        tool: Option<&str>,
    ) -> Result<(), ScrubError> {
        let error = self.lock().scrub_json(error, tool)?;
        reply.count(error.report());
        reply.error = Some(ReplyError::Scrubbed(error));
        Ok(())
    }

    fn logs(
        &self,
        reply: &mut RunReply,
        lines: &[LogLine],
        limits: &Limits,
    ) -> Result<(), ScrubError> {
        if lines.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = lines.iter().map(|line| line.text.clone()).collect();
        // A value may be split over two lines, so the lines are scanned together first.
        let (texts, report) = self.lock().scrub_lines(&texts, None)?.into_parts();
        reply.count(&report);
        let levels = lines.iter().map(|line| line.level);
        let mut lines = levels.zip(texts).collect();
        if let Reader::Model { .. } = self.reader {
            let limit = usize::try_from(limits.output_chars).unwrap_or(usize::MAX);
            let result = reply.result.as_ref();
            let shown = result.map_or(0, |result| result.get().chars().count());
            lines = logs::fit(lines, limit.saturating_sub(shown));
        }
        for (level, text) in lines {
            // The scan of the single line proves that what is sent is scrubbed.
            let text = self.lock().scrub_text(&text, None)?;
            reply.logs.push(ReplyLine { level, text });
        }
        Ok(())
    }

    fn calls(&self, reply: &mut RunReply, calls: &[CallRecord]) -> Result<(), ScrubError> {
        let merged = match self.reader {
            Reader::Model { .. } => merge(calls),
            Reader::Person => calls.iter().map(MergedCalls::one).collect(),
        };
        for calls in merged {
            let tool = self.lock().scrub_text(calls.tool, None)?;
            if let Reader::Person = self.reader {
                reply.count(tool.report());
            }
            reply.calls.push(ReplyCalls {
                tool,
                ms: calls.ms,
                ok: calls.ok,
                count: calls.count,
            });
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, PlaceholderMap> {
        self.placeholders.lock()
    }
}

/// A result that is over the output limit ends the run with `output`.
pub fn limit_output(mut outcome: Outcome, limits: &Limits) -> Outcome {
    let limit = limits.output_chars;
    let Some(result) = &outcome.result else {
        return outcome;
    };
    let text = result.get();
    // There are never more characters than bytes, so most results need no counting.
    if text.len() as u64 <= limit {
        return outcome;
    }
    let chars = text.chars().count() as u64;
    if chars <= limit {
        return outcome;
    }
    let bytes = text.len() as u64;
    let message = format!("the result has {chars} characters; the limit is {limit}");
    outcome.ok = false;
    outcome.result = None;
    outcome.truncated = Some(pml_protocol::Truncated { bytes });
    outcome.error = Some(RunError::new(ErrorKind::Output, message));
    outcome
}

fn is_over(text: &str, limit: usize) -> bool {
    text.len() > limit && text.chars().count() > limit
}

/// Results are valid JSON: they come from a worker or from a server.
fn parse(json: &RawValue) -> Value {
    serde_json::from_str(json.get()).unwrap_or_default()
}

/// The failure of a call. Its hint is for scripts.
fn without_hint(failure: &Failure) -> Value {
    json!(Failure {
        hint: None,
        ..failure.clone()
    })
}

struct MergedCalls<'a> {
    tool: &'a str,
    ms: f64,
    ok: bool,
    count: usize,
}

impl<'a> MergedCalls<'a> {
    fn one(call: &'a CallRecord) -> Self {
        Self {
            tool: &call.tool,
            ms: call.ms,
            ok: call.ok,
            count: 1,
        }
    }
}

/// The calls by tool and by how they ended.
fn merge(calls: &[CallRecord]) -> Vec<MergedCalls<'_>> {
    let mut merged: Vec<MergedCalls<'_>> = Vec::new();
    for call in calls {
        let same = merged
            .iter_mut()
            .find(|known| known.tool == call.tool && known.ok == call.ok);
        match same {
            Some(known) => {
                known.ms += call.ms;
                known.count += 1;
            }
            None => merged.push(MergedCalls::one(call)),
        }
    }
    for calls in &mut merged {
        calls.ms = (calls.ms * 10.0).round() / 10.0;
    }
    merged
}
