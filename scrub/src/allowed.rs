//! What the operator allows: values, domains, patterns, fingerprints and places.

use std::collections::HashSet;

use regex::{Regex, RegexBuilder};

use crate::config::{AllowList, AllowedPlace};
use crate::scrubber::MAX_PATTERN_BYTES;
use crate::{ConfigError, Kind, explain};

/// The compiled lists of `pml.scrub.allow`.
pub(crate) struct Allowed {
    values: HashSet<String>,
    domains: Vec<String>,
    patterns: Vec<Regex>,
    fingerprints: HashSet<String>,
    places: Vec<AllowedPlace>,
}

impl Allowed {
    /// Checks and compiles the lists.
    pub(crate) fn new(list: &AllowList) -> Result<Self, ConfigError> {
        let values = lower("pml.scrub.allow.values", &list.values)?;
        let patterns = list.patterns.iter().map(|pattern| compile(pattern));
        let fingerprints = list.fingerprints.iter().map(|entry| fingerprint(entry));
        // A place that names nothing would allow everything.
        let everywhere = |place: &AllowedPlace| place.pointer.is_none() && place.tool.is_none();
        if list.places.iter().any(everywhere) {
            let key = "pml.scrub.allow.places".to_owned();
            return Err(ConfigError::EmptyEntry { key });
        }
        Ok(Self {
            values: values.into_iter().collect(),
            domains: lower("pml.scrub.allow.domains", &list.domains)?,
            patterns: patterns.collect::<Result<_, _>>()?,
            fingerprints: fingerprints.collect::<Result<_, _>>()?,
            places: list.places.clone(),
        })
    }

    /// Whether a value stays wherever it stands.
    pub(crate) fn has_value(&self, value: &str) -> bool {
        if self.patterns.iter().any(|p| p.is_match(value)) {
            return true;
        }
        let is_listed = |value: &str| self.fingerprints.contains(&explain::fingerprint(value));
        if !self.fingerprints.is_empty() && is_listed(value) {
            return true;
        }
        if self.values.is_empty() && self.domains.is_empty() {
            return false;
        }
        let value = value.to_lowercase();
        if self.values.contains(&value) {
            return true;
        }
        let host = value.rsplit_once('@').map(|(_, host)| host).or_else(|| {
            let (_, rest) = value.split_once("://")?;
            rest.split(['/', '?', '#', ':']).next()
        });
        let is_within = |host: &str, domain: &str| {
            host.strip_suffix(domain)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        host.is_some_and(|host| self.domains.iter().any(|domain| is_within(host, domain)))
    }

    /// Whether any place is listed.
    pub(crate) fn has_places(&self) -> bool {
        !self.places.is_empty()
    }

    /// Whether values of a kind stay in a place of a tool's result.
    pub(crate) fn has_place(&self, kind: Kind, tool: Option<&str>, pointer: &str) -> bool {
        self.places
            .iter()
            .any(|place| place.allows(kind, tool, pointer))
    }
}

/// Entries in lower case; none of them is empty.
fn lower(key: &str, list: &[String]) -> Result<Vec<String>, ConfigError> {
    let entry = |entry: &String| match entry.trim() {
        "" => Err(ConfigError::EmptyEntry {
            key: key.to_owned(),
        }),
        entry => Ok(entry.to_lowercase()),
    };
    list.iter().map(entry).collect()
}

/// A pattern that matches a whole value.
fn compile(pattern: &str) -> Result<Regex, ConfigError> {
    RegexBuilder::new(&format!("^(?:{pattern})$"))
        .size_limit(MAX_PATTERN_BYTES)
        .build()
        .map_err(|source| ConfigError::Pattern {
            name: format!("pml.scrub.allow.patterns: {pattern}"),
            source: Box::new(source),
        })
}

/// A fingerprint of the form that `pml scrub --explain` prints.
fn fingerprint(entry: &str) -> Result<String, ConfigError> {
    let well_formed = entry.len() == 16 && entry.bytes().all(|b| b.is_ascii_hexdigit());
    match well_formed {
        true => Ok(entry.to_ascii_lowercase()),
        false => Err(ConfigError::Fingerprint(entry.to_owned())),
    }
}
