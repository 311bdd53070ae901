//! Further occurrences of values already found: a value that one context word identifies is private
//! in the whole reply.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::boundary::stands_alone;
use crate::detect::Repeats;
use crate::scan::Candidate;

const MIN_VALUE_BYTES: usize = 6;
const MAX_VALUE_BYTES: usize = 256;
/// A reply with more values than this is a table, which has its context in every row.
const MAX_VALUES: usize = 1_000;

/// Values found in a reply that may occur in it again. They are kept only while that reply is
/// scrubbed.
#[derive(Default)]
pub(crate) struct KnownValues {
    values: Vec<(String, Candidate)>,
}

impl KnownValues {
    /// Records a value, if its detector needs context and the value is distinctive: see
    /// [`Repeats`].
    pub(crate) fn add(&mut self, candidate: &Candidate, value: &str) {
        let distinctive = match candidate.detector.repeats {
            Repeats::FoundByDetector => return,
            Repeats::SearchedIfDigits => value.bytes().any(|b| b.is_ascii_digit()),
            Repeats::SearchedIfSeveralWords => value.contains(' '),
        };
        let known = || self.values.iter().any(|(known, _)| known == value);
        if distinctive
            && (MIN_VALUE_BYTES..=MAX_VALUE_BYTES).contains(&value.len())
            && self.values.len() < MAX_VALUES
            && !known()
        {
            self.values.push((value.to_owned(), *candidate));
        }
    }

    /// A matcher for the values; `None` if there are none.
    pub(crate) fn matcher(&self) -> Option<KnownValueMatcher<'_>> {
        if self.values.is_empty() {
            return None;
        }
        let values = self.values.iter().map(|(value, _)| value);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(values);
        Some(KnownValueMatcher {
            automaton: automaton.ok()?,
            values: &self.values,
        })
    }

    /// Adds the further occurrences of the values in a text to the candidates found in it.
    pub(crate) fn complete(&self, text: &str, mut found: Vec<Candidate>) -> Vec<Candidate> {
        let covered: usize = found.iter().map(|c| c.end - c.start).sum();
        if text.len() < covered + MIN_VALUE_BYTES {
            return found;
        }
        if let Some(matcher) = self.matcher() {
            let repeated = matcher.occurrences(text, &found);
            found.extend(repeated);
            found.sort_by_key(|c| c.start);
        }
        found
    }
}

/// An Aho-Corasick automaton over the known values.
pub(crate) struct KnownValueMatcher<'v> {
    automaton: AhoCorasick,
    values: &'v [(String, Candidate)],
}

impl KnownValueMatcher<'_> {
    /// The occurrences of the values in a text that no candidate in `found` covers yet.
    pub(crate) fn occurrences(&self, text: &str, found: &[Candidate]) -> Vec<Candidate> {
        let overlaps = |start: usize, end: usize| {
            let after = found.partition_point(|c| c.end <= start);
            found.get(after).is_some_and(|c| c.start < end)
        };
        let hits = self.automaton.find_iter(text).filter(|hit| {
            stands_alone(text.as_bytes(), hit.start(), hit.end())
                && !overlaps(hit.start(), hit.end())
        });
        hits.map(|hit| Candidate {
            start: hit.start(),
            end: hit.end(),
            ..self.values[hit.pattern().as_usize()].1
        })
        .collect()
    }
}
