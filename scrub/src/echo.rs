//! The same value once more: what a word or key gave away in one place is private in every other.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::boundary::stands_alone;
use crate::scan::Candidate;

/// The detectors that need words nearby; what others find they find everywhere.
const BY_CONTEXT: &[&str] = &[
    "name",
    "address",
    "birth_date",
    "phone",
    "us_ssn",
    "bank_account",
    "national_id",
    "passport",
    "tax_id",
    "health_id",
    "driver_license",
    "labelled_secret",
    "provider_secret",
];
const MIN_VALUE: usize = 6;
const MAX_VALUE: usize = 256;
/// More values than this in one answer are a table, which has its context in every row.
const MAX_VALUES: usize = 1_000;

/// Values that were found in an answer and may stand in it again. They are kept no longer than it
/// takes to scrub that answer.
#[derive(Default)]
pub(crate) struct Echoes {
    values: Vec<(String, Candidate)>,
}

impl Echoes {
    /// Remembers a value that is long and peculiar enough: a number, or a name of several words.
    pub(crate) fn add(&mut self, candidate: &Candidate, value: &str) {
        let peculiar = match candidate.detector {
            "name" => value.contains(' '),
            _ => value.bytes().any(|b| b.is_ascii_digit()),
        };
        let known = || self.values.iter().any(|(known, _)| known == value);
        if peculiar
            && BY_CONTEXT.contains(&candidate.detector)
            && (MIN_VALUE..=MAX_VALUE).contains(&value.len())
            && self.values.len() < MAX_VALUES
            && !known()
        {
            self.values.push((value.to_owned(), *candidate));
        }
    }

    /// What looks for the values; `None` if there are none.
    pub(crate) fn finder(&self) -> Option<Finder<'_>> {
        if self.values.is_empty() {
            return None;
        }
        let values = self.values.iter().map(|(value, _)| value);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(values);
        Some(Finder {
            automaton: automaton.ok()?,
            values: &self.values,
        })
    }

    /// The findings in a text together with the places where the same values stand once more.
    pub(crate) fn complete(&self, text: &str, mut found: Vec<Candidate>) -> Vec<Candidate> {
        let covered: usize = found.iter().map(|c| c.end - c.start).sum();
        if text.len() < covered + MIN_VALUE {
            return found;
        }
        if let Some(finder) = self.finder() {
            let again = finder.places(text, &found);
            found.extend(again);
            found.sort_by_key(|c| c.start);
        }
        found
    }
}

pub(crate) struct Finder<'e> {
    automaton: AhoCorasick,
    values: &'e [(String, Candidate)],
}

impl Finder<'_> {
    /// Where the values stand in a text, apart from places that are findings already.
    pub(crate) fn places(&self, text: &str, found: &[Candidate]) -> Vec<Candidate> {
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
