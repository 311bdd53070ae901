//! The one way out to a client.

use std::sync::{Arc, Mutex, MutexGuard};

use pml_runtime::{CallRecord, Failure, Limits, LogLine, Outcome, RunError};
use pml_scrub::{ScrubError, Scrubbed, Session as Names};
use serde_json::{Value, json};

use super::answer::{Answer, Calls, Fault, Kept, Line};
use super::{blocks, logs};
use crate::storage::Storage;

/// How much of a result that stays here is shown.
const PREVIEW_CHARS: usize = 600;
/// How much is scrubbed for an excerpt.
const EXCERPT_READ: usize = 4_096;

/// Scrubs what a client is told. Clones are the same client.
#[derive(Clone)]
pub struct Outlet {
    names: Arc<Mutex<Names>>,
    storage: Arc<Storage>,
}

impl Outlet {
    pub(crate) fn new(names: Arc<Mutex<Names>>, storage: Arc<Storage>) -> Self {
        Self { names, storage }
    }

    /// A line: progress, a log, a message about a failure. Where the policy blocks what it holds,
    /// the refusal takes its place.
    pub fn text(&self, text: &str) -> Scrubbed<String> {
        self.names()
            .scrub_text(text, None)
            .unwrap_or_else(|refusal| (&refusal).into())
    }

    /// How a text begins, for a reader who needs no more.
    pub fn beginning(&self, text: &str, chars: usize) -> Scrubbed<String> {
        self.excerpt(text, None, chars)
            .unwrap_or_else(|refusal| (&refusal).into())
    }

    /// The end of a run.
    pub fn outcome(&self, outcome: Outcome, limits: &Limits) -> Answer {
        let mut answer = Answer::new();
        answer.ok = outcome.ok;
        answer.stats = Some(outcome.stats);
        match self.tell(&mut answer, outcome, limits) {
            Ok(()) => answer,
            Err(refusal) => Answer::refused(&refusal, answer.stats),
        }
    }

    /// The answer of one tool that was called without a script.
    pub fn call(&self, tool: &str, called: Result<Value, Failure>, limits: &Limits) -> Answer {
        let mut answer = Answer::new();
        let told = match called {
            Ok(value) => self.result(&mut answer, &value.to_string(), Some(tool), limits),
            Err(failure) => {
                answer.ok = false;
                let failure = json!(failure);
                let scrubbed = self.names().scrub_json(failure, Some(tool));
                scrubbed.map(|error| {
                    answer.count(error.report());
                    answer.error = Some(Fault::Told(error));
                })
            }
        };
        match told {
            Ok(()) => answer,
            Err(refusal) => Answer::refused(&refusal, None),
        }
    }

    fn tell(
        &self,
        answer: &mut Answer,
        outcome: Outcome,
        limits: &Limits,
    ) -> Result<(), ScrubError> {
        if outcome.ok {
            let result = outcome
                .result
                .as_deref()
                .map_or("null", |result| result.get());
            self.result(answer, result, None, limits)?;
        }
        if let Some(error) = outcome.error {
            let error = self.names().scrub_json(compact(error), None)?;
            answer.count(error.report());
            answer.error = Some(Fault::Told(error));
        }
        self.logs(answer, &outcome.logs, limits)?;
        for (tool, ms, ok, count) in merged(&outcome.calls) {
            let tool = self.names().scrub_text(tool, None)?;
            answer.calls.push(Calls {
                tool,
                ms,
                ok,
                count,
            });
        }
        Ok(())
    }

    fn result(
        &self,
        answer: &mut Answer,
        whole: &str,
        tool: Option<&str>,
        limits: &Limits,
    ) -> Result<(), ScrubError> {
        let limit = usize::try_from(limits.output_chars).unwrap_or(usize::MAX);
        // What is too large to be shown is not worth to be read, if nothing in it is shown apart.
        if whole.len() > limit && !blocks::may_be_in(whole) && whole.chars().count() > limit {
            answer.truncated = Some(self.keep(whole, whole, tool, limit)?);
            return Ok(());
        }
        // It comes as JSON, from a worker or from a server.
        let mut value: Value = serde_json::from_str(whole).unwrap_or_default();
        answer.blocks = blocks::take(&mut value, &mut self.names())?;
        let text = value.to_string();
        if text.len() > limit && text.chars().count() > limit {
            answer.truncated = Some(self.keep(whole, &text, tool, limit)?);
            return Ok(());
        }
        let result = self.names().scrub_json(value, tool)?;
        answer.count(result.report());
        answer.result = Some(result);
        Ok(())
    }

    fn keep(
        &self,
        whole: &str,
        text: &str,
        tool: Option<&str>,
        limit: usize,
    ) -> Result<Kept, ScrubError> {
        let handle = self.storage.keep(whole).ok();
        let preview = self.excerpt(text, tool, PREVIEW_CHARS.min(limit))?;
        let hint = match &handle {
            Some(handle) => format!(
                "Too large to show. In another script, `await load(\"{handle}\")` gives all of it: filter it there."
            ),
            None => "Too large to show, and too large to keep: return less.".to_owned(),
        };
        Ok(Kept {
            bytes: whole.len(),
            handle,
            preview,
            hint,
        })
    }

    fn excerpt(
        &self,
        text: &str,
        tool: Option<&str>,
        chars: usize,
    ) -> Result<Scrubbed<String>, ScrubError> {
        // More is read than shown, so that nothing private is cut in half before it is seen.
        let read = &text[..text.floor_char_boundary(EXCERPT_READ)];
        let mut names = self.names();
        let scrubbed = names.scrub_text(read, tool)?;
        let short: String = scrubbed.chars().take(chars).collect();
        // A part of what is scrubbed is scrubbed; looking again is what proves it.
        names.scrub_text(&short, tool)
    }

    fn logs(
        &self,
        answer: &mut Answer,
        lines: &[LogLine],
        limits: &Limits,
    ) -> Result<(), ScrubError> {
        if lines.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = lines.iter().map(|line| line.text.clone()).collect();
        let mut names = self.names();
        // A value may be split over two lines, so they are looked at together first; each is
        // looked at again on its own, which is what proves it.
        let (texts, report) = names.scrub_lines(&texts, None)?.into_parts();
        answer.count(&report);
        let shown = answer.result.as_ref().map_or(0, |result| {
            let result: &Value = result;
            result.to_string().chars().count()
        });
        let limit = usize::try_from(limits.output_chars).unwrap_or(usize::MAX);
        let levels = lines.iter().map(|line| line.level);
        let lines = levels.zip(texts).collect();
        for (level, text) in logs::fit(lines, limit.saturating_sub(shown)) {
            let text = names.scrub_text(&text, None)?;
            answer.logs.push(Line { level, text });
        }
        Ok(())
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        // A panic in between leaves placeholders that are whole: each is made in one step.
        self.names
            .lock()
            .unwrap_or_else(|poison| poison.into_inner())
    }
}

/// What helps to mend a script: where there is a place in it, the stack says nothing more.
fn compact(error: RunError) -> Value {
    let stack = error.stack.filter(|_| error.frame.is_none());
    json!(RunError { stack, ..error })
}

/// The calls by tool and by how they ended.
fn merged(calls: &[CallRecord]) -> Vec<(&str, f64, bool, usize)> {
    let mut merged: Vec<(&str, f64, bool, usize)> = Vec::new();
    for call in calls {
        let same = merged
            .iter_mut()
            .find(|(tool, _, ok, _)| *tool == call.tool && *ok == call.ok);
        match same {
            Some((_, ms, _, count)) => {
                *ms += call.ms;
                *count += 1;
            }
            None => merged.push((&call.tool, call.ms, call.ok, 1)),
        }
    }
    for (_, ms, _, _) in &mut merged {
        *ms = (*ms * 10.0).round() / 10.0;
    }
    merged
}
