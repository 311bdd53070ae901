//! The report of findings, which never contains a value.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Kind;

/// Counts per kind, and the individual findings up to a bound.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    counts: BTreeMap<Kind, usize>,
    findings: Vec<Finding>,
}

/// A report lists at most this many findings; the counts include all.
const MAX_FINDINGS: usize = 1_000;

/// One occurrence of private data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The kind of data.
    pub kind: Kind,
    /// The name of the detector that found it, as in the configuration.
    pub detector: &'static str,
    /// From 0 to 1.
    pub confidence: f32,
    /// Its position.
    pub place: Place,
}

/// The position of a finding in the scrubbed input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The JSON pointer of the string, number or key; empty for plain text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pointer: String,
    /// Line number, from 1.
    pub line: usize,
    /// Start, as an offset in characters of the whole text or string.
    pub start: usize,
    /// End, exclusive.
    pub end: usize,
}

impl Report {
    /// The number of values of each kind that were replaced.
    pub fn counts(&self) -> &BTreeMap<Kind, usize> {
        &self.counts
    }

    /// The individual findings in text order, at most 1,000.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Adds the findings of another text of the same reply.
    pub fn merge(&mut self, other: Report) {
        for (kind, count) in other.counts {
            *self.counts.entry(kind).or_default() += count;
        }
        let free = MAX_FINDINGS.saturating_sub(self.findings.len());
        self.findings.extend(other.findings.into_iter().take(free));
    }

    pub(crate) fn add(&mut self, kind: Kind, finding: impl FnOnce() -> Finding) {
        *self.counts.entry(kind).or_default() += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding());
        }
    }
}
