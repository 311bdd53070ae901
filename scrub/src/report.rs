//! What was found, without ever holding the value.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Kind;

/// Counts per kind, and the single findings up to a bound.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    counts: BTreeMap<Kind, usize>,
    findings: Vec<Finding>,
}

/// A report lists this many findings; the counts go on.
const MAX_FINDINGS: usize = 1_000;

/// One place where private data stood.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub kind: Kind,
    /// The detector that found it, as the configuration names it.
    pub detector: &'static str,
    /// From 0 to 1.
    pub confidence: f32,
    pub place: Place,
}

/// Where a finding stood in what was scrubbed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The JSON pointer of the string, number or key; empty for plain text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pointer: String,
    /// Line, from 1.
    pub line: usize,
    /// Offset in characters of the whole text or string.
    pub start: usize,
    pub end: usize,
}

impl Report {
    /// How many values of each kind were replaced.
    pub fn counts(&self) -> &BTreeMap<Kind, usize> {
        &self.counts
    }

    /// The single findings, in the order of the text; at most a thousand.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Adds what another text of the same answer held.
    pub fn merge(&mut self, other: Report) {
        for (kind, count) in other.counts {
            *self.counts.entry(kind).or_default() += count;
        }
        let room = MAX_FINDINGS.saturating_sub(self.findings.len());
        self.findings.extend(other.findings.into_iter().take(room));
    }

    pub(crate) fn add(&mut self, kind: Kind, finding: impl FnOnce() -> Finding) {
        *self.counts.entry(kind).or_default() += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding());
        }
    }
}
