//! The compiled configuration: finds private data, and says what is to happen to it.

use std::collections::HashSet;
use std::hash::Hash;

use regex::{Regex, RegexBuilder};
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::config::{Action, CustomPattern, ScrubConfig};
use crate::detect::{DETECTORS, Detector};
use crate::fold::Folded;
use crate::policy::{CUSTOM, Policy, Verdict};
use crate::prefilter::Prefilter;
use crate::scan::{Candidate, Scan};
use crate::{ConfigError, Finding, Kind, Place, decode, overlap, placeholder};

/// Finds private data. Made once from the configuration and shared by all sessions.
pub struct Scrubber {
    prefilter: Prefilter,
    policy: Policy,
    patterns: Vec<(Kind, Regex)>,
    allowed_values: HashSet<String>,
    allowed_domains: Vec<String>,
    min_confidence: f32,
    max_entries: usize,
    hash_key: [u8; 16],
}

impl Scrubber {
    /// Checks the configuration and prepares the detectors it leaves on.
    pub fn new(config: &ScrubConfig) -> Result<Self, ConfigError> {
        if !(0.0..=1.0).contains(&config.min_confidence) {
            return Err(ConfigError::Confidence(config.min_confidence));
        }
        let lower = |place: &str, list: &[String]| {
            list.iter()
                .map(|entry| match entry.trim() {
                    "" => Err(ConfigError::EmptyEntry {
                        place: place.to_owned(),
                    }),
                    entry => Ok(entry.to_lowercase()),
                })
                .collect::<Result<Vec<_>, _>>()
        };
        let policy = Policy::new(config)?;
        let on: Vec<&'static Detector> = DETECTORS
            .iter()
            .copied()
            .filter(|d| policy.is_on(d))
            .collect();
        let mut hash_key = [0; 16];
        getrandom::fill(&mut hash_key).map_err(ConfigError::Random)?;
        Ok(Self {
            prefilter: Prefilter::new(&on),
            policy,
            patterns: config
                .patterns
                .iter()
                .map(compile)
                .collect::<Result<_, _>>()?,
            allowed_values: lower("pml.scrub.allow.values", &config.allow.values)?
                .into_iter()
                .collect(),
            allowed_domains: lower("pml.scrub.allow.domains", &config.allow.domains)?,
            min_confidence: config.min_confidence,
            max_entries: config.max_entries,
            hash_key,
        })
    }

    /// What a text holds, without replacing anything. `key` is the JSON key the text is the value
    /// of. Findings that the policy allows are left out.
    pub fn find(&self, text: &str, key: Option<&str>) -> Vec<Finding> {
        let candidates = self.candidates(text, key, None);
        let mut places = Places::new(text);
        candidates.iter().map(|c| finding(c, &mut places)).collect()
    }

    /// As `find`, but with every kind that a stretch could be about as surely: nine letters and
    /// digits may fit the passports of one country and the identity cards of another.
    pub fn readings(&self, text: &str, key: Option<&str>) -> Vec<Finding> {
        let kept = self.candidates(text, key, None);
        let mut all = self.scan(text, key, 0);
        all.retain(|c| self.verdict(c, None).action != Action::Allow);
        let rivals = |c: &Candidate, k: &Candidate| {
            (k.start, k.end) == (c.start, c.end) && k.confidence - c.confidence <= RIVAL
        };
        all.retain(|c| kept.iter().any(|k| rivals(c, k)));
        all.sort_by_key(|c| (c.start, c.kind));
        all.dedup_by_key(|c| (c.start, c.kind));
        let mut places = Places::new(text);
        all.iter().map(|c| finding(c, &mut places)).collect()
    }

    /// What must not leave, in bytes of the text and in its order.
    pub(crate) fn candidates(
        &self,
        text: &str,
        key: Option<&str>,
        tool: Option<&str>,
    ) -> Vec<Candidate> {
        let mut found = self.scan(text, key, 0);
        found.retain(|c| self.verdict(c, tool).action != Action::Allow);
        overlap::resolve(&mut found);
        found.retain(|c| !self.is_allowed(&text[c.start..c.end]));
        found
    }

    pub(crate) fn verdict(&self, candidate: &Candidate, tool: Option<&str>) -> Verdict {
        self.verdict_of(candidate.kind, candidate.detector, tool)
    }

    pub(crate) fn verdict_of(&self, kind: Kind, detector: &str, tool: Option<&str>) -> Verdict {
        self.policy.verdict(kind, detector, tool)
    }

    /// Whether a value below this key could be private whatever it is made of.
    pub(crate) fn key_matters(&self, key: &str) -> bool {
        !self.patterns.is_empty() || self.prefilter.has_literal(&format!("{key}: "))
    }

    pub(crate) fn max_entries(&self) -> usize {
        self.max_entries
    }

    /// A keyed hash: without the key, which never leaves the process, nobody can try out values.
    pub(crate) fn hash(&self, kind: Kind, value: &str) -> u128 {
        let mut hasher = SipHasher13::new_with_key(&self.hash_key);
        kind.hash(&mut hasher);
        value.hash(&mut hasher);
        hasher.finish128().as_u128()
    }

    /// Everything above the threshold; stretches may still overlap.
    pub(crate) fn scan(&self, text: &str, key: Option<&str>, depth: usize) -> Vec<Candidate> {
        let folded = Folded::new(text);
        let labelled;
        let (read, key_end) = match key {
            Some(key) => {
                labelled = format!("{key}: {}", folded.text());
                (labelled.as_str(), key.len() + 2)
            }
            None => (folded.text(), 0),
        };
        let mut scan = Scan::new(read, key_end);
        self.prefilter.run(&mut scan);
        for (kind, pattern) in &self.patterns {
            for hit in pattern
                .find_iter(&read[key_end..])
                .filter(|m| !m.is_empty())
            {
                scan.found_by(CUSTOM, *kind, key_end + hit.start()..key_end + hit.end());
            }
        }
        decode::base64(self, &mut scan, depth);
        let mut found = scan.found;
        found.retain(|c| c.confidence >= self.min_confidence);
        if found.is_empty() {
            return found;
        }
        let taken: Vec<_> = placeholder::spans(read).collect();
        // They ascend and do not overlap, so the last one that begins before a place decides.
        let cuts = |at: usize| {
            let after = taken.partition_point(|t| t.start <= at);
            after > 0 && at < taken[after - 1].end
        };
        found.retain(|c| !cuts(c.start) && !cuts(c.end - 1));
        for candidate in &mut found {
            let range = folded.source(candidate.start - key_end..candidate.end - key_end);
            (candidate.start, candidate.end) = (range.start, range.end);
        }
        found
    }

    fn is_allowed(&self, value: &str) -> bool {
        if self.allowed_values.is_empty() && self.allowed_domains.is_empty() {
            return false;
        }
        let value = value.to_lowercase();
        if self.allowed_values.contains(&value) {
            return true;
        }
        let host = value.rsplit_once('@').map(|(_, host)| host).or_else(|| {
            let (_, rest) = value.split_once("://")?;
            rest.split(['/', '?', '#', ':']).next()
        });
        let fits = |host: &str, domain: &str| {
            host.strip_suffix(domain)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        host.is_some_and(|host| self.allowed_domains.iter().any(|domain| fits(host, domain)))
    }
}

/// How much less sure another reading of the same stretch may be.
const RIVAL: f32 = 0.05;
/// A pattern larger than this when compiled would slow down every text.
const MAX_PATTERN_BYTES: usize = 1 << 20;

fn compile(pattern: &CustomPattern) -> Result<(Kind, Regex), ConfigError> {
    let name = &pattern.name;
    let is_taken = || {
        let mut kinds = DETECTORS.iter().flat_map(|d| (d.kinds)());
        kinds.any(|kind| kind.as_str() == name)
    };
    let fits = (2..=32).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if !fits || is_taken() {
        return Err(ConfigError::PatternName(name.clone()));
    }
    let regex = RegexBuilder::new(&pattern.regex)
        .size_limit(MAX_PATTERN_BYTES)
        .build()
        .map_err(|source| ConfigError::Pattern {
            name: name.clone(),
            source: Box::new(source),
        })?;
    if regex.is_match("") {
        return Err(ConfigError::EmptyPattern(name.clone()));
    }
    Ok((Kind::intern(name), regex))
}

/// The finding that a candidate is reported as.
pub(crate) fn finding(candidate: &Candidate, places: &mut Places<'_>) -> Finding {
    Finding {
        kind: candidate.kind,
        detector: candidate.detector,
        confidence: candidate.confidence,
        place: places.of(candidate.start, candidate.end),
    }
}

/// Turns byte offsets into lines and characters, in one walk as long as they ascend.
pub(crate) struct Places<'t> {
    text: &'t str,
    pub(crate) pointer: String,
    at: usize,
    line: usize,
    chars: usize,
}

impl<'t> Places<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            pointer: String::new(),
            at: 0,
            line: 1,
            chars: 0,
        }
    }

    fn of(&mut self, start: usize, end: usize) -> Place {
        if start < self.at {
            (self.at, self.line, self.chars) = (0, 1, 0);
        }
        for c in self.text[self.at..start].chars() {
            self.line += usize::from(c == '\n');
            self.chars += 1;
        }
        self.at = start;
        Place {
            pointer: self.pointer.clone(),
            line: self.line,
            start: self.chars,
            end: self.chars + self.text[start..end].chars().count(),
        }
    }
}
