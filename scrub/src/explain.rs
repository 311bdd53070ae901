//! Explains findings: which rule decided, which words nearby made the detector sure, and how to allow the
//! value.
//!
//! Detectors do not record their reasons. A reason is found by taking a word away: the words without which
//! the value is not found are its context.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::boundary::is_word;
use crate::config::Action;
use crate::scan::Candidate;
use crate::scrubber::{Locator, finding};
use crate::{Finding, Scrubber};

/// How much text around a value is tried.
const WINDOW: usize = 160;
/// At most so many words of it are taken away, the nearest first.
const MAX_WORDS: usize = 32;
/// A text with more findings is explained up to this one.
const MAX_EXPLAINED: usize = 200;

/// Why a value is replaced.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// What was found, and where.
    #[serde(flatten)]
    pub finding: Finding,
    /// What happens to it.
    pub action: Action,
    /// What decided that: a key of the configuration, or the profile.
    pub rule: String,
    /// Whether it is found by its form, without any text around it.
    pub by_form: bool,
    /// The words nearby without which it is not found, in text order. Private words are left out.
    pub context: Vec<String>,
    /// The entry of `pml.scrub.allow.fingerprints` that leaves this value as it is.
    pub fingerprint: String,
}

/// A hash of a value as it is compared with `allow.fingerprints`: 16 hexadecimal digits. A short value can be
/// guessed from it, so it is for the operator's eyes.
pub(crate) fn fingerprint(value: &str) -> String {
    let digest = Sha256::digest(value.trim().to_lowercase());
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl Scrubber {
    /// Explains each finding in a text; `key` is the JSON key whose value the text is.
    pub fn explain(&self, text: &str, key: Option<&str>) -> Vec<Explanation> {
        self.explain_at(text, key, "")
    }

    /// Explains each finding in the strings and numbers of a JSON value.
    pub fn explain_json(&self, value: &Value) -> Vec<Explanation> {
        let mut all = Vec::new();
        self.explain_value(value, None, &mut String::new(), &mut all);
        all
    }

    fn explain_value(
        &self,
        value: &Value,
        key: Option<&str>,
        pointer: &mut String,
        all: &mut Vec<Explanation>,
    ) {
        let length = pointer.len();
        match value {
            _ if all.len() >= MAX_EXPLAINED => {}
            Value::String(text) => all.extend(self.explain_at(text, key, pointer)),
            Value::Number(number) => {
                let key = key.or(Some(""));
                all.extend(self.explain_at(&number.to_string(), key, pointer));
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{index}"));
                    self.explain_value(item, key, pointer, all);
                    pointer.truncate(length);
                }
            }
            Value::Object(fields) => {
                for (key, value) in fields {
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    self.explain_value(value, Some(key), pointer, all);
                    pointer.truncate(length);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn explain_at(&self, text: &str, key: Option<&str>, pointer: &str) -> Vec<Explanation> {
        let found = self.candidates(text, key, None, None);
        let mut locator = Locator::new(text);
        locator.pointer = pointer.to_owned();
        let explain = |candidate: &Candidate| {
            let value = &text[candidate.start..candidate.end];
            let by_form = self.finds(value, None, candidate, 0);
            let context = match by_form {
                true => Vec::new(),
                false => self.context(text, key, candidate, &found),
            };
            let verdict = self.verdict(candidate.kind, candidate.detector, None);
            Explanation {
                finding: finding(candidate, &mut locator),
                action: verdict.action,
                rule: self.rule_of(candidate.kind, candidate.detector),
                by_form,
                context,
                fingerprint: fingerprint(value),
            }
        };
        found.iter().take(MAX_EXPLAINED).map(explain).collect()
    }

    /// Whether a text has the candidate, which begins at `start` there.
    fn finds(&self, text: &str, key: Option<&str>, candidate: &Candidate, start: usize) -> bool {
        let end = start + candidate.end - candidate.start;
        self.candidates(text, key, None, None)
            .iter()
            .any(|c| c.kind == candidate.kind && c.start < end && start < c.end)
    }

    /// The words around a candidate without which it is not found.
    fn context(
        &self,
        text: &str,
        key: Option<&str>,
        candidate: &Candidate,
        found: &[Candidate],
    ) -> Vec<String> {
        let mut context = Vec::new();
        if let Some(key) = key
            && !self.finds(text, None, candidate, candidate.start)
        {
            context.push(format!("the key `{key}`"));
        }
        let from = floor(text, candidate.start.saturating_sub(WINDOW));
        let to = floor(text, (candidate.end + WINDOW).min(text.len()));
        let window = &text[from..to];
        let start = candidate.start - from;
        if !self.finds(window, key, candidate, start) {
            return context;
        }
        let value = start..candidate.end - from;
        let mut words = words(window);
        words.retain(|word| word.end <= value.start || word.start >= value.end);
        words.sort_by_key(|word| word.start.abs_diff(value.start));
        words.truncate(MAX_WORDS);
        words.sort_by_key(|word| word.start);
        for word in words {
            let place = from + word.start..from + word.end;
            if found
                .iter()
                .any(|c| c.start < place.end && place.start < c.end)
            {
                continue;
            }
            let without = format!(
                "{}{}{}",
                &window[..word.start],
                "x".repeat(word.len()),
                &window[word.end..]
            );
            if !self.finds(&without, key, candidate, start) {
                context.push(format!("`{}`", &window[word]));
            }
        }
        context
    }
}

/// The last boundary of a character up to an offset.
fn floor(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// The words of a text.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        if !is_word(byte) && byte != b'_' {
            continue;
        }
        match words.last_mut() {
            Some(word) if word.end == at => word.end = at + 1,
            _ => words.push(at..at + 1),
        }
    }
    words.retain(|word| text.get(word.clone()).is_some());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScrubConfig;

    fn explain(config: serde_json::Value, text: &str, key: Option<&str>) -> Vec<Explanation> {
        let config: ScrubConfig = serde_json::from_value(config).expect("a configuration");
        Scrubber::new(&config)
            .expect("a valid configuration")
            .explain(text, key)
    }

    #[test]
    fn a_value_with_a_form_of_its_own_needs_no_context() {
        let found = explain(serde_json::json!({}), "write to jo@example.org today", None);
        assert_eq!(found.len(), 1);
        assert!(found[0].by_form && found[0].context.is_empty());
        assert_eq!(found[0].rule, "the profile `default`");
    }

    #[test]
    fn the_word_without_which_a_value_is_not_found_is_its_context() {
        let found = explain(
            serde_json::json!({}),
            "order 7 of my passport number C01X0006H is late",
            None,
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(!found[0].by_form);
        assert_eq!(found[0].context, ["`passport`"]);
        let found = explain(serde_json::json!({}), "C01X0006H", Some("passport"));
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn the_rule_is_the_key_of_the_configuration_that_decides() {
        let config = serde_json::json!({"detectors": {"email": "mask"}});
        let found = explain(config, "jo@example.org", None);
        assert_eq!(found[0].rule, "`pml.scrub.detectors.email`");
        assert_eq!(found[0].action, Action::Mask);
    }

    #[test]
    fn an_allowed_fingerprint_leaves_the_value() {
        let text = "write to Jo@example.org today";
        let found = explain(serde_json::json!({}), text, None);
        let config = serde_json::json!({"allow": {"fingerprints": [found[0].fingerprint]}});
        assert!(explain(config, text, None).is_empty());
    }

    #[test]
    fn findings_in_json_have_a_pointer() {
        let scrubber = Scrubber::new(&ScrubConfig::default()).expect("a valid configuration");
        let value = serde_json::json!({"a/b": [{"to": "jo@example.org"}], "n": null});
        let found = scrubber.explain_json(&value);
        assert_eq!(found[0].finding.place.pointer, "/a~1b/0/to");
    }
}
