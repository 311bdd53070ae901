//! The answer to a script or a call, in the order a reader wants it: the result first.

use std::collections::BTreeMap;

use pml_runtime::{ErrorKind, Level, Stats};
use pml_scrub::{Kind, Report, ScrubError, Scrubbed};
use serde::Serialize;
use serde_json::Value;

use super::blocks::Block;

/// What a run answers, without what a reader does not need: no empty lists, no times of single
/// calls, nothing twice. Only an [`super::Outlet`] makes one.
#[derive(Debug, Serialize)]
pub struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<Scrubbed<Value>>,
    pub(super) ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Fault>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) truncated: Option<Kept>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logs: Vec<Line>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<Calls>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) redactions: BTreeMap<Kind, usize>,
    /// Images, sounds and resources: they travel beside the text.
    #[serde(skip)]
    pub(super) blocks: Vec<Block>,
    #[serde(skip)]
    pub(super) stats: Option<Stats>,
}

/// Why there is no result.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Fault {
    Told(Scrubbed<Value>),
    /// The policy of scrubbing lets nothing of it out.
    Refused {
        kind: ErrorKind,
        message: Scrubbed<String>,
    },
}

/// A result that stays here, and how to get at it.
#[derive(Debug, Serialize)]
pub struct Kept {
    pub(super) bytes: usize,
    /// Without one, the result could not be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) handle: Option<String>,
    /// How it begins.
    pub(super) preview: Scrubbed<String>,
    pub(super) hint: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub level: Level,
    pub text: Scrubbed<String>,
}

/// The calls of one tool that ended alike.
#[derive(Debug, Serialize)]
pub(super) struct Calls {
    pub tool: Scrubbed<String>,
    pub ms: f64,
    pub ok: bool,
    #[serde(skip_serializing_if = "is_one")]
    pub count: usize,
}

fn is_one(count: &usize) -> bool {
    *count == 1
}

impl Answer {
    pub(super) fn new() -> Self {
        Self {
            result: None,
            ok: true,
            error: None,
            truncated: None,
            logs: Vec::new(),
            calls: Vec::new(),
            redactions: BTreeMap::new(),
            blocks: Vec::new(),
            stats: None,
        }
    }

    pub fn is_ok(&self) -> bool {
        self.ok
    }

    pub fn result(&self) -> Option<&Scrubbed<Value>> {
        self.result.as_ref()
    }

    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub fn stats(&self) -> Option<Stats> {
        self.stats
    }

    /// The whole as compact JSON.
    pub fn to_json(&self) -> String {
        // Maps with text keys, lists, texts and finite numbers: nothing here that JSON lacks.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Nothing is left but the refusal.
    pub(super) fn refused(refusal: &ScrubError, stats: Option<Stats>) -> Self {
        Self {
            ok: false,
            error: Some(Fault::Refused {
                kind: ErrorKind::Denied,
                message: refusal.into(),
            }),
            stats,
            ..Self::new()
        }
    }

    pub(super) fn count(&mut self, report: &Report) {
        for (kind, count) in report.counts() {
            *self.redactions.entry(*kind).or_default() += count;
        }
    }
}
