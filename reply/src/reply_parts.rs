//! The parts of one reply: result, blocks, error, logs and calls. They are scrubbed one after another,
//! and completed when all their private values are known.

use pml_protocol::{
    CallRecord, ErrorKind, LabelReport, Level, Limits, LogLine, Outcome, Request, RunError,
};
use pml_scrub::{PlaceholderMap, ScrubError, Scrubbed};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::reply_scrubber::{KeepResult, Reader};
use crate::run_reply::{ReplyCalls, ReplyError, ReplyLine, RunReply, Truncation};
use crate::{blocks, logs, shape};

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
        if let (true, Reader::Model { keep }) = (outcome.held, self.reader) {
            return self.held(keep, outcome);
        }
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
                preview: None,
                shape: None,
                hint: String::new(),
            });
        }
        if let Some(error) = outcome.error {
            self.error(self.shown(error))?;
        }
        self.logs(outcome.logs, limits)?;
        self.calls(&outcome.calls)?;
        self.labels(outcome.labels)
    }

    /// What a model reads of a run whose data it must not read: numbers and words of pml. Texts that the
    /// script chose, such as log lines and ids of tools that it called, are withheld.
    pub(crate) fn held(&mut self, keep: &KeepResult, outcome: Outcome) -> Result<(), ScrubError> {
        if let Some(error) = outcome.error {
            let message =
                "the message is withheld, because the model must not read what the run has read";
            let standard = RunError::new(error.kind, message);
            let error = RunError {
                line: error.line,
                column: error.column,
                // It says how to get the result of a run that waits.
                hint: match error.kind {
                    ErrorKind::Waiting => error.hint,
                    _ => standard.hint,
                },
                ..standard
            };
            self.error(json!(error))?;
        }
        if outcome.ok {
            let result = outcome.result.unwrap_or_else(|| RawValue::NULL.to_owned());
            let handle = keep(result.get());
            let hint = match &handle {
                Some(handle) => format!(
                    "Kept unread. A script gets it with `await load(\"{handle}\")`, and has read then what this run has read."
                ),
                None => "Too large to keep: return less.".to_owned(),
            };
            self.reply.truncated = Some(Truncation {
                bytes: result.get().len(),
                handle,
                preview: None,
                shape: Some(shape::of(&parse(&result))),
                hint,
            });
        }
        if !outcome.logs.is_empty() {
            let text = format!("log lines withheld: {}", outcome.logs.len());
            let text = self.placeholders.scrub_text(&text, None)?;
            let level = Level::Info;
            self.reply.logs.push(ReplyLine { level, text });
        }
        Ok(())
    }

    fn labels(&mut self, labels: Option<LabelReport>) -> Result<(), ScrubError> {
        let Some(report) = labels else { return Ok(()) };
        if let Reader::Person = self.reader {
            let scrubbed = self.placeholders.scrub_json(json!(report), None)?;
            self.reply.labels = Some(scrubbed);
            return Ok(());
        }
        for crossing in report.crossings.iter().filter(|crossing| crossing.refused) {
            let path = self.placeholders.scrub_text(&crossing.path, None)?;
            self.reply.flows.push(path);
        }
        Ok(())
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
            preview: Some(preview),
            shape: None,
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
        let truncated = reply.truncated.as_mut();
        if let Some(preview) = truncated.and_then(|truncation| truncation.preview.as_mut()) {
            complete(preview, placeholders, tool)?;
        }
        for path in &mut reply.flows {
            complete(path, placeholders, None)?;
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
