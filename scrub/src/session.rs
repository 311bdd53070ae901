//! One conversation: which value got which placeholder, and the way back for tools.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::config::Action;
use crate::echo::Echoes;
use crate::scan::Candidate;
use crate::scrubber::{Places, finding};
use crate::{Kind, Report, ScrubError, Scrubbed, Scrubber, json, placeholder, replace};

/// Values longer than this get a name but cannot be put back: the map stays small.
const MAX_VALUE_BYTES: usize = 4096;
/// Replacing can, rarely, leave a remainder that is private by itself, or bring a word closer to the
/// next value; it is looked at again. Each round costs a look at the whole text, so they are bounded.
const MAX_ROUNDS: usize = 16;

/// The placeholders of one conversation. It lives in memory only and is bounded by
/// `maxEntries` of the configuration.
pub struct Session {
    scrubber: Arc<Scrubber>,
    /// By a keyed hash, so that one-way values are not kept at all.
    names: HashMap<u128, String>,
    counters: HashMap<Kind, u32>,
    values: HashMap<String, Original>,
    /// Of the answer at hand.
    pub(crate) echoes: Echoes,
}

/// What a placeholder stands for.
pub(crate) struct Original {
    pub(crate) value: String,
    /// It was a JSON number, and becomes one again.
    pub(crate) number: bool,
    kind: Kind,
    detector: &'static str,
}

impl Session {
    pub fn new(scrubber: Arc<Scrubber>) -> Self {
        Self {
            scrubber,
            names: HashMap::new(),
            counters: HashMap::new(),
            values: HashMap::new(),
            echoes: Echoes::default(),
        }
    }

    /// Scrubs a text: a log line, an error, a result that is a string. `tool` is the tool it came
    /// from, if it came straight from one.
    pub fn scrub_text(
        &mut self,
        text: &str,
        tool: Option<&str>,
    ) -> Result<Scrubbed<String>, ScrubError> {
        let mut report = Report::default();
        let scrubbed = self.scrub_string(text, None, tool, &mut report, &String::new);
        self.echoes = Echoes::default();
        let scrubbed = scrubbed?;
        Ok(Scrubbed::new(
            scrubbed.unwrap_or_else(|| text.to_owned()),
            report,
        ))
    }

    /// Scrubs lines that were written one after the other, such as logs; a value that is split
    /// over two of them is found.
    pub fn scrub_lines(
        &mut self,
        lines: &[String],
        tool: Option<&str>,
    ) -> Result<Scrubbed<Vec<String>>, ScrubError> {
        let scrubbed = json::scrub_lines(self, lines, tool);
        self.echoes = Echoes::default();
        scrubbed
    }

    /// Scrubs every string, key and number of a JSON value; its structure stays.
    pub fn scrub_json(
        &mut self,
        mut value: Value,
        tool: Option<&str>,
    ) -> Result<Scrubbed<Value>, ScrubError> {
        let mut report = Report::default();
        let scrubbed = json::scrub(self, &mut value, tool, &mut report);
        let echoes = std::mem::take(&mut self.echoes);
        scrubbed?;
        json::scrub_echoes(self, &mut value, &echoes, tool, &mut report)?;
        Ok(Scrubbed::new(value, report))
    }

    /// Lets the bytes of an image or a sound through, written in base64. What is no base64, what is
    /// text in disguise and what holds something private that can be read is not let through:
    /// `None`.
    pub fn scrub_binary(&mut self, base64: &str) -> Option<Scrubbed<String>> {
        let bytes = STANDARD.decode(base64).ok()?;
        if std::str::from_utf8(&bytes).is_ok() {
            return None;
        }
        let readable: Vec<u8> = bytes
            .iter()
            .map(|byte| {
                if (b' '..=b'~').contains(byte) {
                    *byte
                } else {
                    b'\n'
                }
            })
            .collect();
        // Bytes outside of ASCII became line breaks, so this is a text.
        let readable = String::from_utf8(readable).ok()?;
        let found = self.scrubber.candidates(&readable, None, None);
        found
            .is_empty()
            .then(|| Scrubbed::new(base64.to_owned(), Report::default()))
    }

    /// Puts real values back for placeholders in the arguments of a tool, right before its server
    /// gets them. Returns how many were put back. What comes out must not be logged.
    pub fn restore_args(&self, args: &mut Value, tool: &str) -> usize {
        json::restore(self, args, tool)
    }

    /// `None` when nothing was private.
    pub(crate) fn scrub_string(
        &mut self,
        text: &str,
        key: Option<&str>,
        tool: Option<&str>,
        report: &mut Report,
        pointer: &dyn Fn() -> String,
    ) -> Result<Option<String>, ScrubError> {
        let mut found = Report::default();
        let rounds = self.scrub_rounds(text, key, tool, &mut found, pointer)?;
        let mut scrubbed = rounds.out;
        // A finding that reaches over the end of a JSON string would break the JSON: such a text
        // is taken apart and scrubbed string by string.
        if scrubbed.as_ref().is_some_and(|out| {
            rounds.may_break_json && replace::is_json(text) && !replace::is_json(out)
        }) && let Ok(mut value) = serde_json::from_str::<Value>(text)
        {
            found = Report::default();
            json::scrub(self, &mut value, tool, &mut found)?;
            scrubbed = Some(value.to_string());
        }
        report.merge(found);
        Ok(scrubbed)
    }

    fn scrub_rounds(
        &mut self,
        text: &str,
        key: Option<&str>,
        tool: Option<&str>,
        report: &mut Report,
        pointer: &dyn Fn() -> String,
    ) -> Result<Rounds, ScrubError> {
        let mut scrubbed: Option<String> = None;
        let mut may_break_json = false;
        let mut echoes = Echoes::default();
        for _ in 0..MAX_ROUNDS {
            let text = scrubbed.as_deref().unwrap_or(text);
            let candidates = self.scrubber.candidates(text, key, tool);
            for candidate in &candidates {
                let value = &text[candidate.start..candidate.end];
                echoes.add(candidate, value);
                self.echoes.add(candidate, value);
            }
            let candidates = echoes.complete(text, candidates);
            if candidates.is_empty() {
                break;
            }
            let mut places = Places::new(text);
            places.pointer = pointer();
            let mut replacements = Vec::with_capacity(candidates.len());
            for candidate in &candidates {
                let value = &text[candidate.start..candidate.end];
                may_break_json |= replace::may_break_json(value);
                let replacement = self.replacement(candidate, value, false, tool)?;
                report.add(candidate.kind, || finding(candidate, &mut places));
                replacements.push((candidate.start..candidate.end, replacement));
            }
            scrubbed = Some(replace::replace(text, &replacements));
        }
        Ok(Rounds {
            out: scrubbed,
            may_break_json,
        })
    }

    /// What stands for a value from now on.
    pub(crate) fn replacement(
        &mut self,
        candidate: &Candidate,
        value: &str,
        number: bool,
        tool: Option<&str>,
    ) -> Result<String, ScrubError> {
        let kind = candidate.kind;
        let verdict = self.scrubber.verdict(candidate, tool);
        match verdict.action {
            Action::Block => Err(ScrubError::Blocked {
                kind,
                detector: candidate.detector.to_owned(),
                tool: tool.map(str::to_owned),
            }),
            Action::Mask => Ok(placeholder::masked(value)),
            Action::Hash => Ok(placeholder::hashed(
                kind,
                self.scrubber.hash(kind, &plain(value)),
            )),
            Action::Allow => Ok(value.to_owned()),
            Action::Redact => {
                let hash = self.scrubber.hash(kind, &plain(value));
                if let Some(name) = self.names.get(&hash) {
                    return Ok(name.clone());
                }
                if self.names.len() >= self.scrubber.max_entries() {
                    return Ok(placeholder::bare(kind));
                }
                let counter = self.counters.entry(kind).or_default();
                *counter += 1;
                let name = placeholder::numbered(kind, *counter);
                self.names.insert(hash, name.clone());
                if verdict.reversible && value.len() <= MAX_VALUE_BYTES {
                    let original = Original {
                        value: value.to_owned(),
                        number,
                        kind,
                        detector: candidate.detector,
                    };
                    self.values.insert(name.clone(), original);
                }
                Ok(name)
            }
        }
    }

    pub(crate) fn scrubber(&self) -> &Arc<Scrubber> {
        &self.scrubber
    }

    /// What a placeholder stands for, if the policy lets this tool have it.
    pub(crate) fn original(&self, name: &str, tool: &str) -> Option<&Original> {
        let original = self.values.get(name)?;
        let verdict = self
            .scrubber
            .verdict_of(original.kind, original.detector, Some(tool));
        verdict.reversible.then_some(original)
    }
}

/// What scrubbing a text until nothing is left came to.
struct Rounds {
    /// `None` when nothing was private.
    out: Option<String>,
    may_break_json: bool,
}

/// A number written with spaces or dashes is the same number; a word in capitals is not always
/// the same word, so only values with digits and addresses are levelled.
fn plain(value: &str) -> String {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits >= 6 && value.bytes().all(|b| !b.is_ascii_alphabetic());
    if is_number {
        value
            .chars()
            .filter(|c| !matches!(c, ' ' | '-' | '.' | '/' | '(' | ')'))
            .collect()
    } else if value.contains('@') {
        value.to_lowercase()
    } else {
        value.to_owned()
    }
}
