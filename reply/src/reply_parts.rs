//! The parts of one reply: result, blocks, error, logs and calls. They are scrubbed one after another,
//! and completed when all their private values are known.

use pml_protocol::{CallRecord, Level, Limits, LogLine, Outcome, Request, RunError};
use pml_scrub::{PlaceholderMap, ScrubError, Scrubbed};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::reply_scrubber::{KeepResult, Reader};
use crate::run_reply::{ReplyCalls, ReplyError, ReplyLine, RunReply, Truncation};
use crate::{blocks, logs};

/// How many characters of a truncated result are shown.
const PREVIEW_CHARS: usize = 600;

/// A reply in the making.
pub(crate) struct ReplyParts<'a, 'm> {
    pub(crate) placeholders: &'m mut PlaceholderMap,
    pub(crate) reader: &'a Reader,
    /// The tool that was called without a script.
    pub(crate) tool: Option<&'a str>,
    /// The scrubbed result.
    pub(crate) result: Option<Scrubbed<Value>>,
    pub(crate) reply: RunReply,
}

impl ReplyParts<'_, '_> {
    pub(crate) fn outcome(&mut self, outcome: Outcome, limits: &Limits) -> Result<(), ScrubError> {
        self.reply.ok = outcome.ok;
        match (&outcome.result, self.reader) {
            // A plan has a result although some of its tasks failed.
            (Some(result), _) => self.result(result, limits)?,
            (None, Reader::Model { .. }) if outcome.ok => self.result(RawValue::NULL, limits)?,
            _ => {}
        }
        if let Some(truncated) = &outcome.truncated {
            self.reply.truncated = Some(Truncation {
                bytes: usize::try_from(truncated.bytes).unwrap_or(usize::MAX),
                handle: None,
                preview: "".into(),
                hint: String::new(),
            });
        }
        if let Some(error) = outcome.error {
            self.error(self.shown(error))?;
        }
        self.logs(outcome.logs, limits)?;
        self.calls(&outcome.calls)
    }

    pub(crate) fn result(&mut self, result: &RawValue, limits: &Limits) -> Result<(), ScrubError> {
        let Reader::Model { keep } = self.reader else {
            self.result = Some(self.placeholders.scrub_json(parse(result), self.tool)?);
            return Ok(());
        };
        let limit = usize::try_from(limits.output_chars).unwrap_or(usize::MAX);
        let whole = result.get();
        // Over the output limit and free of media blocks: keep it without parsing.
        if is_over(whole, limit) && !blocks::may_be_in(whole) {
            return self.truncate(keep, whole, whole, limit);
        }
        let mut value = parse(result);
        self.reply.blocks = blocks::take(&mut value, self.placeholders)?;
        let text = value.to_string();
        if is_over(&text, limit) {
            return self.truncate(keep, whole, &text, limit);
        }
        self.result = Some(self.placeholders.scrub_json(value, self.tool)?);
        Ok(())
    }

    fn truncate(
        &mut self,
        keep: &KeepResult,
        whole: &str,
        text: &str,
        limit: usize,
    ) -> Result<(), ScrubError> {
        let handle = keep(whole);
        let chars = PREVIEW_CHARS.min(limit);
        let preview = self.placeholders.scrub_beginning(text, self.tool, chars)?;
        let hint = match &handle {
            Some(handle) => format!(
                "Too large to show. In another script, `await load(\"{handle}\")` gives all of it: filter it there."
            ),
            None => "Too large to show, and too large to keep: return less.".to_owned(),
        };
        self.reply.truncated = Some(Truncation {
            bytes: whole.len(),
            handle,
            preview,
            hint,
        });
        Ok(())
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

    pub(crate) fn error(&mut self, error: Value) -> Result<(), ScrubError> {
        let error = self.placeholders.scrub_json(error, self.tool)?;
        self.reply.error = Some(ReplyError::Scrubbed(error));
        Ok(())
    }

    fn logs(&mut self, lines: Vec<LogLine>, limits: &Limits) -> Result<(), ScrubError> {
        if lines.is_empty() {
            return Ok(());
        }
        let lines = match self.reader {
            Reader::Person => {
                let (levels, texts) = split(lines);
                levels.into_iter().zip(self.scrub_lines(&texts)?).collect()
            }
            Reader::Model { .. } => {
                let limit = usize::try_from(limits.output_chars).unwrap_or(usize::MAX);
                let result = self.result.as_ref();
                let shown = result.map_or(0, |result| result.to_json().get().chars().count());
                let kept = logs::Kept::of(lines, limit.saturating_sub(shown));
                let kept = kept.scrubbed(|texts| self.scrub_lines(&texts))?;
                kept.shown()
            }
        };
        for (level, text) in lines {
            // The scan of the single line proves that what is sent is scrubbed.
            let text = self.placeholders.scrub_text(&text, None)?;
            self.reply.logs.push(ReplyLine { level, text });
        }
        Ok(())
    }

    /// Scrubs consecutive lines. A value may be split over two of them, so they are scanned together.
    fn scrub_lines(&mut self, texts: &[String]) -> Result<Vec<String>, ScrubError> {
        let (texts, report) = self.placeholders.scrub_lines(texts, None)?.into_parts();
        self.reply.count(&report);
        Ok(texts)
    }

    fn calls(&mut self, calls: &[CallRecord]) -> Result<(), ScrubError> {
        let merged = match self.reader {
            Reader::Model { .. } => merge(calls),
            Reader::Person => calls.iter().map(MergedCalls::one).collect(),
        };
        for calls in merged {
            // The broker cuts a longer id, and half of a private value cannot be recognised.
            let tool = match calls.tool.len() > Request::MAX_ID_BYTES {
                true => "(a tool id that is too long)".into(),
                false => self.placeholders.scrub_text(calls.tool, None)?,
            };
            self.reply.calls.push(ReplyCalls {
                tool,
                ms: calls.ms,
                ok: calls.ok,
                count: calls.count,
            });
        }
        Ok(())
    }

    /// Completes every part with the values that were found in the others, and counts what was
    /// replaced.
    pub(crate) fn finish(self) -> Result<RunReply, ScrubError> {
        let Self {
            placeholders,
            reader,
            tool,
            result,
            mut reply,
        } = self;
        if let Some(result) = result {
            let result = placeholders.complete_json(result, tool)?;
            reply.count(result.report());
            reply.result = Some(result.to_json());
        }
        blocks::complete(&mut reply.blocks, placeholders)?;
        if let Some(truncation) = &mut reply.truncated {
            complete(&mut truncation.preview, placeholders, tool)?;
        }
        if let Some(ReplyError::Scrubbed(error)) = reply.error.take() {
            let error = placeholders.complete_json(error, tool)?;
            reply.count(error.report());
            reply.error = Some(ReplyError::Scrubbed(error));
        }
        for mut line in std::mem::take(&mut reply.logs) {
            complete(&mut line.text, placeholders, None)?;
            reply.count(line.text.report());
            reply.logs.push(line);
        }
        for mut calls in std::mem::take(&mut reply.calls) {
            complete(&mut calls.tool, placeholders, None)?;
            if let Reader::Person = reader {
                reply.count(calls.tool.report());
            }
            reply.calls.push(calls);
        }
        Ok(reply)
    }
}

/// Replaces the values in a scrubbed text that became known after it was scrubbed.
pub(crate) fn complete(
    text: &mut Scrubbed<String>,
    placeholders: &mut PlaceholderMap,
    tool: Option<&str>,
) -> Result<(), ScrubError> {
    let scrubbed = std::mem::replace(text, "".into());
    *text = placeholders.complete_text(scrubbed, tool)?;
    Ok(())
}

fn split(lines: Vec<LogLine>) -> (Vec<Level>, Vec<String>) {
    lines
        .into_iter()
        .map(|line| (line.level, line.text))
        .unzip()
}

fn is_over(text: &str, limit: usize) -> bool {
    text.len() > limit && text.chars().count() > limit
}

/// Results are valid JSON: they come from a worker or from a server.
fn parse(json: &RawValue) -> Value {
    serde_json::from_str(json.get()).unwrap_or_default()
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
