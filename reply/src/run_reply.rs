//! The reply to a script or a call. Fields are in the order a reader needs them: the result first.

use std::collections::BTreeMap;

use pml_protocol::{
    CallRecord, ErrorKind, LabelReport, Level, LogLine, Outcome, RunError, RunId, Stats, Truncated,
};
use pml_scrub::{Kind, Report, ScrubError, Scrubbed};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::blocks::Block;

/// What a client reads of a run. Serialized, it is what a model gets: no empty lists, no times of
/// single calls, nothing twice. [`RunReply::into_outcome`] is the whole, for a person or a program.
#[derive(Debug, Serialize)]
pub struct RunReply {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<Scrubbed<Box<RawValue>>>,
    pub(crate) ok: bool,
    /// The id of a durable run. It is of pml's making, or chosen on the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<ReplyError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<Truncation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) logs: Vec<ReplyLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<ReplyCalls>,
    /// The paths of calls that were refused: `web:fetch → run → mail:send`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) flows: Vec<Scrubbed<String>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) redactions: BTreeMap<Kind, usize>,
    /// Images, sounds and resources, which travel beside the text.
    #[serde(skip)]
    pub(crate) blocks: Vec<Block>,
    /// A [`LabelReport`].
    #[serde(skip)]
    pub(crate) labels: Option<Scrubbed<Value>>,
    #[serde(skip)]
    pub(crate) stats: Stats,
}

/// Why there is no result.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ReplyError {
    /// The error of the run or of the call.
    Scrubbed(Scrubbed<Value>),
    /// The scrubber refuses the reply.
    Blocked {
        kind: ErrorKind,
        message: Scrubbed<String>,
    },
}

/// A result that is over the output limit.
#[derive(Debug, Serialize)]
pub struct Truncation {
    pub(crate) bytes: usize,
    /// `None` if the result could not be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) handle: Option<String>,
    /// How the result begins; `None` if a model must not read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) preview: Option<Scrubbed<String>>,
    /// What kind of value it is, in words and numbers of pml.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shape: Option<String>,
    pub(crate) hint: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct ReplyLine {
    pub level: Level,
    pub text: Scrubbed<String>,
}

/// The calls of one tool that ended alike; a single call in the reply to a person.
#[derive(Debug, Serialize)]
pub(crate) struct ReplyCalls {
    pub tool: Scrubbed<String>,
    pub ms: f64,
    pub ok: bool,
    #[serde(skip_serializing_if = "is_one")]
    pub count: usize,
}

fn is_one(count: &usize) -> bool {
    *count == 1
}

impl RunReply {
    pub(crate) fn new(ok: bool, stats: Stats) -> Self {
        Self {
            result: None,
            ok,
            run: None,
            error: None,
            truncated: None,
            logs: Vec::new(),
            calls: Vec::new(),
            redactions: BTreeMap::new(),
            flows: Vec::new(),
            blocks: Vec::new(),
            labels: None,
            stats,
        }
    }

    /// Nothing but the refusal of the scrubber.
    pub(crate) fn blocked(refusal: &ScrubError, stats: Stats) -> Self {
        let kind = match refusal {
            ScrubError::Blocked { .. } | ScrubError::Undecided { .. } => ErrorKind::Denied,
            ScrubError::Panicked => ErrorKind::Internal,
        };
        Self {
            error: Some(ReplyError::Blocked {
                kind,
                message: refusal.into(),
            }),
            ..Self::new(false, stats)
        }
    }

    pub(crate) fn count(&mut self, report: &Report) {
        for (kind, count) in report.counts() {
            *self.redactions.entry(*kind).or_default() += count;
        }
    }

    /// Whether the script ran to its end, or the tool answered with a value.
    pub fn is_ok(&self) -> bool {
        self.ok
    }

    /// The result, if there is one and it is not truncated.
    pub fn result(&self) -> Option<&Scrubbed<Box<RawValue>>> {
        self.result.as_ref()
    }

    /// Images, sounds and resources that were taken out of the result.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// What the run used.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// The reply that a model reads, as compact JSON.
    pub fn to_json(&self) -> String {
        // Maps with text keys, lists, texts and finite numbers always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// How many values were replaced, by kind.
    pub fn redactions(&self) -> impl Iterator<Item = (String, usize)> {
        let counts = self.redactions.iter();
        counts.map(|(kind, count)| (kind.to_string(), *count))
    }

    /// The whole reply in the form of an outcome, with every value scrubbed.
    pub fn into_outcome(self) -> Outcome {
        Outcome {
            run: self.run,
            ok: self.ok,
            result: self.result.map(Scrubbed::into_inner),
            logs: self
                .logs
                .into_iter()
                .map(|line| LogLine {
                    level: line.level,
                    text: line.text.into_inner(),
                })
                .collect(),
            calls: self
                .calls
                .into_iter()
                .map(|call| CallRecord {
                    tool: call.tool.into_inner(),
                    ms: call.ms,
                    ok: call.ok,
                })
                .collect(),
            redactions: self
                .redactions
                .into_iter()
                .map(|(kind, count)| (kind.to_string(), u32::try_from(count).unwrap_or(u32::MAX)))
                .collect(),
            truncated: self.truncated.map(|truncation| Truncated {
                bytes: truncation.bytes as u64,
            }),
            labels: self
                .labels
                .and_then(|report| LabelReport::deserialize(report.into_inner()).ok()),
            held: false,
            stats: self.stats,
            error: self.error.map(ReplyError::into_run_error),
        }
    }
}

impl ReplyError {
    fn into_run_error(self) -> RunError {
        match self {
            Self::Blocked { kind, message } => RunError::new(kind, message.into_inner()),
            Self::Scrubbed(error) => {
                let value = error.into_inner();
                let text = |key: &str| value[key].as_str().map(str::to_owned);
                // A number that looked private is a placeholder now, and is left out.
                let number = |key: &str| value[key].as_u64()?.try_into().ok();
                RunError {
                    kind: ErrorKind::deserialize(&value["kind"]).unwrap_or(ErrorKind::Runtime),
                    message: text("message").unwrap_or_default(),
                    line: number("line"),
                    column: number("column"),
                    frame: text("frame"),
                    stack: text("stack"),
                    hint: text("hint"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use pml_scrub::{PlaceholderMap, ScrubConfig, Scrubber};
    use serde_json::json;

    #[test]
    fn an_error_keeps_its_kind_and_its_hint_if_a_number_in_it_is_scrubbed() {
        let error = RunError {
            column: Some(3),
            ..RunError::new(ErrorKind::Timeout, "slow")
        };
        let mut scrubbed = json!(error);
        scrubbed["line"] = json!("[PHONE_1]");
        let scrubber = Arc::new(Scrubber::new(&ScrubConfig::default()).unwrap());
        let scrubbed = PlaceholderMap::new(scrubber).scrub_json(scrubbed, None);
        let reply = ReplyError::Scrubbed(scrubbed.unwrap());
        assert_eq!(json!(reply.into_run_error()), json!(error));
    }
}
