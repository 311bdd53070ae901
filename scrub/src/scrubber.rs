//! The compiled configuration: finds private data and decides the action for it.

use std::hash::Hash;

use regex::{Regex, RegexBuilder};
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::allowed::Allowed;
use crate::config::{Action, CustomPattern, ScrubConfig};
use crate::detect::{DETECTORS, Detector, entities, url_credentials};
use crate::known_values::KnownValues;
use crate::normalize::NormalizedText;
use crate::policy::{Policy, Verdict};
use crate::prefilter::Prefilter;
use crate::restore_policy::RestorePolicy;
use crate::scan::{Candidate, Scan};
use crate::{ConfigError, Finding, Kind, Place, decode, overlap, placeholder};

/// Finds private data. Built once from the configuration and shared by all sessions.
pub struct Scrubber {
    prefilter: Prefilter,
    policy: Policy,
    restore: RestorePolicy,
    patterns: Vec<(Kind, Regex)>,
    allowed: Allowed,
    min_confidence: f32,
    max_entries: usize,
    finds_url_credentials: bool,
    finds_entities: bool,
    hash_key: [u8; 16],
    /// Whether any rule asks a person.
    pub(crate) asks: bool,
}

impl Scrubber {
    /// Validates the configuration and builds the prefilter for the detectors it enables.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if the configuration is invalid, or if the operating system provides no
    /// randomness for the hash key.
    pub fn new(config: &ScrubConfig) -> Result<Self, ConfigError> {
        if !(0.0..=1.0).contains(&config.min_confidence) {
            return Err(ConfigError::Confidence(config.min_confidence));
        }
        let policy = Policy::new(config)?;
        let enabled: Vec<&'static Detector> = DETECTORS
            .iter()
            .copied()
            .filter(|d| policy.is_enabled(d))
            .collect();
        let mut hash_key = [0; 16];
        getrandom::fill(&mut hash_key).map_err(ConfigError::Random)?;
        Ok(Self {
            finds_url_credentials: policy.is_enabled(&url_credentials::DETECTOR),
            finds_entities: policy.is_enabled(&entities::DETECTOR),
            prefilter: Prefilter::new(&enabled),
            policy,
            restore: RestorePolicy::new(&config.restore)?,
            patterns: config
                .patterns
                .iter()
                .map(compile)
                .collect::<Result<_, _>>()?,
            allowed: Allowed::new(&config.allow)?,
            min_confidence: config.min_confidence,
            max_entries: config.max_entries,
            hash_key,
            asks: config.asks(),
        })
    }

    /// The findings in a text, without replacing anything. `key` is the JSON key whose value the
    /// text is. Findings that the policy allows are left out.
    pub fn find(&self, text: &str, key: Option<&str>) -> Vec<Finding> {
        let candidates = self.candidates(text, key, None, None);
        let mut locator = Locator::new(text);
        candidates
            .iter()
            .map(|c| finding(c, &mut locator))
            .collect()
    }

    /// As [`find`](Self::find), with the alternative kinds of each range whose confidence is almost
    /// as high: nine letters and digits may match the passports of one country and the identity
    /// cards of another.
    pub fn find_alternatives(&self, text: &str, key: Option<&str>) -> Vec<Finding> {
        let kept = self.candidates(text, key, None, None);
        let mut all = self.scan(text, key, None, 0);
        all.retain(|c| self.verdict(c.kind, c.detector, None).action != Action::Allow);
        let is_alternative = |c: &Candidate, k: &Candidate| {
            (k.start, k.end) == (c.start, c.end)
                && k.confidence - c.confidence <= ALTERNATIVE_MARGIN
        };
        all.retain(|c| kept.iter().any(|k| is_alternative(c, k)));
        all.sort_by_key(|c| (c.start, c.kind));
        all.dedup_by_key(|c| (c.start, c.kind));
        let mut locator = Locator::new(text);
        all.iter().map(|c| finding(c, &mut locator)).collect()
    }

    /// The candidates to replace, in text order and without overlaps. `known` are values that are
    /// private wherever they occur.
    pub(crate) fn candidates(
        &self,
        text: &str,
        key: Option<&str>,
        tool: Option<&str>,
        known: Option<&KnownValues>,
    ) -> Vec<Candidate> {
        self.hidden_candidates(text, key, tool, known, |_| true)
    }

    /// As [`candidates`](Self::candidates), of those that `is_hidden` accepts. What it refuses stays in the
    /// text and hides nothing else: an address within a text that stays is a candidate of its own.
    pub(crate) fn hidden_candidates(
        &self,
        text: &str,
        key: Option<&str>,
        tool: Option<&str>,
        known: Option<&KnownValues>,
        is_hidden: impl Fn(&Candidate) -> bool,
    ) -> Vec<Candidate> {
        let mut found = self.scan(text, key, known, 0);
        found.retain(is_hidden);
        self.chosen(text, tool, found)
    }

    /// The occurrences of known values alone that `is_hidden` accepts.
    pub(crate) fn known_candidates(
        &self,
        text: &str,
        tool: Option<&str>,
        known: &KnownValues,
        is_hidden: impl Fn(&Candidate) -> bool,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        for normalized in NormalizedText::readings(text) {
            let mut occurrences = known.occurrences(normalized.text(), 0);
            cut_placeholders(normalized.text(), &mut occurrences);
            to_source(&normalized, 0, &mut occurrences);
            found.append(&mut occurrences);
        }
        found.retain(is_hidden);
        self.chosen(text, tool, found)
    }

    /// The candidates that the policy does not allow, in text order and without overlaps.
    pub(crate) fn chosen(
        &self,
        text: &str,
        tool: Option<&str>,
        mut found: Vec<Candidate>,
    ) -> Vec<Candidate> {
        found.retain(|c| self.verdict(c.kind, c.detector, tool).action != Action::Allow);
        overlap::resolve(&mut found);
        found.retain(|c| !self.allowed.has_value(&text[c.start..c.end]));
        found
    }

    /// The policy's decision for a finding.
    pub(crate) fn verdict(&self, kind: Kind, detector: &Detector, tool: Option<&str>) -> Verdict {
        self.policy.verdict(kind, detector, tool)
    }

    /// The rule that decides about findings of a kind and detector.
    pub(crate) fn rule_of(&self, kind: Kind, detector: &Detector) -> String {
        self.policy.rule_of(kind, detector)
    }

    /// Whether `allow.places` leaves values of a kind in a place. `pointer` is only called if there are any
    /// such places.
    pub(crate) fn allows_place<'p>(
        &self,
        kind: Kind,
        tool: Option<&str>,
        pointer: impl FnOnce() -> &'p str,
    ) -> bool {
        self.allowed.has_places() && self.allowed.has_place(kind, tool, pointer())
    }

    /// Which destinations receive which values.
    pub(crate) fn restore_policy(&self) -> &RestorePolicy {
        &self.restore
    }

    /// Whether the value of this key could be private even if it is plain lower-case words.
    pub(crate) fn key_matters(&self, key: &str) -> bool {
        !self.patterns.is_empty() || self.prefilter.has_literal(&format!("{key}: "))
    }

    /// Whether the configuration has rules of its own for this tool.
    pub fn has_rules_for(&self, tool: &str) -> bool {
        self.policy.has_rules_for(tool)
    }

    pub(crate) fn max_entries(&self) -> usize {
        self.max_entries
    }

    /// An empty set of known values, whose hashes have this scrubber's key.
    pub(crate) fn known_values(&self) -> KnownValues {
        KnownValues::new(self.hash_key, self.max_entries)
    }

    /// A keyed hash. The key never leaves the process, so values cannot be guessed by hashing them.
    pub(crate) fn hash(&self, kind: Kind, value: &str) -> u128 {
        let mut hasher = SipHasher13::new_with_key(&self.hash_key);
        kind.hash(&mut hasher);
        value.hash(&mut hasher);
        hasher.finish128().as_u128()
    }

    /// All candidates above the threshold, in bytes of the text; they may overlap.
    pub(crate) fn scan(
        &self,
        text: &str,
        key: Option<&str>,
        known: Option<&KnownValues>,
        depth: usize,
    ) -> Vec<Candidate> {
        #[cfg(test)]
        assert!(!text.contains(crate::guard::PANIC), "a panic for a test");
        let plain = self.scan_normalized(&NormalizedText::new(text), key, known, depth);
        let Some(decoded) = NormalizedText::from_quoted_printable(text) else {
            return plain;
        };
        let mut found = self.scan_normalized(&decoded, key, known, depth);
        found.extend(plain);
        overlap::join_same_kind(found)
    }

    /// As [`scan`](Self::scan), of one reading of the text.
    fn scan_normalized(
        &self,
        normalized: &NormalizedText<'_>,
        key: Option<&str>,
        known: Option<&KnownValues>,
        depth: usize,
    ) -> Vec<Candidate> {
        let keyed;
        let (scanned, key_end) = match key {
            Some(key) => {
                keyed = format!("{key}: {}", normalized.text());
                (keyed.as_str(), key.len() + 2)
            }
            None => (normalized.text(), 0),
        };
        let mut scan = Scan::new(scanned, key_end);
        self.prefilter.run(&mut scan);
        if self.finds_entities {
            entities::find(&mut scan);
        }
        for (kind, pattern) in &self.patterns {
            for hit in pattern
                .find_iter(&scanned[key_end..])
                .filter(|m| !m.is_empty())
            {
                scan.add_custom(*kind, key_end + hit.start()..key_end + hit.end());
            }
        }
        decode::scan_base64_tokens(self, &mut scan, depth);
        let mut found = scan.candidates;
        if let Some(known) = known {
            found.extend(known.occurrences(scanned, key_end));
        }
        // Detectors may look at the key and report what they find there. Only this line keeps it out:
        // an offset in the key has no counterpart in the text.
        found.retain(|c| c.start >= key_end && c.start < c.end);
        found.retain(|c| c.confidence >= self.min_confidence);
        cut_placeholders(scanned, &mut found);
        to_source(normalized, key_end, &mut found);
        if self.finds_url_credentials {
            found.extend(encoded_url_credentials(normalized, self.min_confidence));
        }
        found
    }
}

/// How much lower the confidence in an alternative kind of the same range may be.
const ALTERNATIVE_MARGIN: f32 = 0.05;
/// A pattern larger than this when compiled would slow down every scan.
pub(crate) const MAX_PATTERN_BYTES: usize = 1 << 20;

fn compile(pattern: &CustomPattern) -> Result<(Kind, Regex), ConfigError> {
    let name = &pattern.name;
    let is_taken = || {
        let mut kinds = DETECTORS.iter().flat_map(|d| (d.kinds)());
        kinds.any(|kind| kind.as_str() == name)
    };
    let well_formed = (2..=32).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if !well_formed || is_taken() {
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

/// Cuts placeholders off the ends of candidates. Text beside a placeholder is private like any other.
fn cut_placeholders(text: &str, found: &mut Vec<Candidate>) {
    if found.is_empty() {
        return;
    }
    let placeholders: Vec<_> = placeholder::spans(text).collect();
    // They ascend and do not overlap, so the last one that begins before an offset decides.
    let around = |at: usize| {
        let after = placeholders.partition_point(|p| p.start <= at);
        placeholders[..after].last().filter(|p| at < p.end)
    };
    let bytes = text.as_bytes();
    found.retain_mut(|candidate| {
        while let Some(cut) = around(candidate.start).filter(|_| candidate.start < candidate.end) {
            candidate.start = cut.end;
            let rest = &bytes[cut.end.min(candidate.end)..candidate.end];
            candidate.start += rest.iter().take_while(|b| **b == b' ').count();
        }
        while candidate.start < candidate.end
            && let Some(cut) = around(candidate.end - 1)
        {
            let rest = &bytes[candidate.start..cut.start.max(candidate.start)];
            candidate.end = candidate.start + rest.trim_ascii_end().len();
        }
        candidate.start < candidate.end
    });
}

/// Converts candidates from bytes of `key: normalized` to bytes of the original text.
fn to_source(normalized: &NormalizedText<'_>, key_end: usize, found: &mut [Candidate]) {
    for candidate in found {
        let range = normalized.source(candidate.start - key_end..candidate.end - key_end);
        (candidate.start, candidate.end) = (range.start, range.end);
    }
}

/// The credentials of URLs as they stand before decoding: `%2F` in a password is part of it, and the
/// `/` that it decodes to would end it.
fn encoded_url_credentials(normalized: &NormalizedText<'_>, min_confidence: f32) -> Vec<Candidate> {
    let mut all = Vec::new();
    for (layer, text) in normalized.earlier().iter().enumerate() {
        let mut found = url_credentials::in_text(text);
        found.retain(|c| c.confidence >= min_confidence);
        cut_placeholders(text, &mut found);
        for candidate in &mut found {
            let range = normalized.source_of(layer, candidate.start..candidate.end);
            (candidate.start, candidate.end) = (range.start, range.end);
        }
        all.append(&mut found);
    }
    all
}

/// The reported form of a candidate.
pub(crate) fn finding(candidate: &Candidate, locator: &mut Locator<'_>) -> Finding {
    Finding {
        kind: candidate.kind,
        detector: candidate.detector.name,
        confidence: candidate.confidence,
        place: locator.place(candidate.start, candidate.end),
    }
}

/// Converts byte offsets into lines and characters, in one pass as long as they ascend.
pub(crate) struct Locator<'t> {
    text: &'t str,
    pub(crate) pointer: String,
    at: usize,
    line: usize,
    chars: usize,
}

impl<'t> Locator<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            pointer: String::new(),
            at: 0,
            line: 1,
            chars: 0,
        }
    }

    fn place(&mut self, start: usize, end: usize) -> Place {
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
