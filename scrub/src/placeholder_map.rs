//! The placeholders of one client session: which value got which placeholder. The way back, for tool
//! arguments, is in `restore.rs`.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::config::Action;
use crate::decisions::Decisions;
use crate::detect::{Detector, entities};
use crate::guard::refuse_panics;
use crate::known_values::KnownValues;
use crate::origins::{Origin, RunOrigins};
use crate::restore::Destination;
use crate::restored_values::RestoredValues;
use crate::scan::Candidate;
use crate::scrubber::{Locator, finding};
use crate::{Kind, Report, ScrubError, Scrubbed, Scrubber, json, placeholder, replace};

/// Values longer than this get a placeholder but cannot be restored, to bound the map's memory.
const MAX_VALUE_BYTES: usize = 4096;
/// How many bytes of a text are scanned and not shown after its beginning. A private value that the
/// end of the scanned part goes through is either found, or what is left of it lies within them.
const BEGINNING_MARGIN: usize = 2_048;
/// Replacing can, rarely, leave a remainder that is private by itself, or bring a context word
/// closer to the next value, so the output is scanned again. Each round scans the whole text.
const MAX_ROUNDS: usize = 16;
/// How many origins of one value are remembered, each of which explains it alone.
const MAX_ORIGINS: usize = 8;

/// The placeholders of one client session, and the values they stand for. It lives in memory only
/// and is bounded by `maxEntries` of the configuration.
///
/// A map of [`PlaceholderMap::new`] restores nothing and numbers its placeholders: `[EMAIL_1]`. In a
/// map of [`PlaceholderMap::reversible`] the placeholders end in a tag that cannot be guessed, and
/// are restored where the model wrote them:
///
/// ```
/// use std::sync::{Arc, Weak};
/// use pml_scrub::{Origin, PlaceholderMap, RunOrigins, ScrubConfig, Scrubber, SharedPlaceholders};
///
/// let scrubber = Arc::new(Scrubber::new(&ScrubConfig::default())?);
/// let placeholders = SharedPlaceholders::new(PlaceholderMap::reversible(scrubber));
/// let run = Arc::new(RunOrigins::default());
/// run.received(&Origin::server("mail"), r#""write to jo@example.com""#);
/// let placeholders = placeholders.for_run(run);
/// let text = placeholders.lock().scrub_text("jo@example.com", None)?.into_inner();
/// assert!(text.starts_with("[EMAIL_1_"));
///
/// let mut args = serde_json::json!({ "to": text });
/// let written = placeholders.lock().written_in(&args.to_string());
/// placeholders.lock().restore_args(&mut args, "mail:send", &written)?;
/// assert_eq!(args["to"], "jo@example.com");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PlaceholderMap {
    scrubber: Arc<Scrubber>,
    /// The key of the tags. Without it, nothing is restored.
    tag_key: Option<[u8; 16]>,
    /// By the keyed hash of the value, so that one-way values are not stored.
    placeholders: HashMap<u128, String>,
    /// The last number used for each kind.
    counters: HashMap<Kind, u32>,
    originals: HashMap<String, Original>,
    /// Values that a server has received, and can send back.
    restored: RestoredValues,
    /// What the run whose texts are being scrubbed has received. The run keeps it, not the session.
    origins: Weak<RunOrigins>,
    /// Values that are replaced wherever they occur.
    pub(crate) known_values: KnownValues,
    /// What a person decided in this session.
    pub(crate) decisions: Decisions,
    /// Several calls scrub the parts of one reply.
    in_reply: bool,
}

/// The value that a placeholder stands for.
pub(crate) struct Original {
    pub(crate) value: String,
    /// The value was a JSON number and is restored as one.
    pub(crate) number: bool,
    /// Where the value was seen. Empty if that is unknown.
    pub(crate) origins: Vec<Origin>,
    pub(crate) kind: Kind,
    pub(crate) detector: &'static Detector,
}

/// A string to scrub, and where it comes from.
pub(crate) struct StringSource<'s> {
    pub(crate) text: &'s str,
    /// The JSON key whose value the string is.
    pub(crate) key: Option<&'s str>,
    /// The tool that returned it.
    pub(crate) tool: Option<&'s str>,
    /// Builds the JSON pointer, which only a finding needs.
    pub(crate) pointer: &'s dyn Fn() -> String,
}

impl<'s> StringSource<'s> {
    /// A plain text outside JSON.
    pub(crate) fn plain(text: &'s str, tool: Option<&'s str>) -> Self {
        Self {
            text,
            key: None,
            tool,
            pointer: &String::new,
        }
    }
}

impl PlaceholderMap {
    /// An empty map that restores nothing. Its placeholders are the same in every process:
    /// `[EMAIL_1]`.
    pub fn new(scrubber: Arc<Scrubber>) -> Self {
        Self {
            known_values: scrubber.known_values(),
            decisions: Decisions::default(),
            scrubber,
            tag_key: None,
            placeholders: HashMap::new(),
            counters: HashMap::new(),
            originals: HashMap::new(),
            restored: RestoredValues::default(),
            origins: Weak::new(),
            in_reply: false,
        }
    }

    /// An empty map whose placeholders can be restored: `[EMAIL_1_k3f9]`. If the operating system
    /// provides no randomness for their tags, the map restores nothing.
    pub fn reversible(scrubber: Arc<Scrubber>) -> Self {
        let mut key = [0; 16];
        let has_random = getrandom::fill(&mut key).is_ok();
        Self {
            tag_key: has_random.then_some(key),
            ..Self::new(scrubber)
        }
    }

    /// Scrubs the parts of one reply: `parts` calls the other methods. Every value that is found in
    /// one part is known in all of them; [`complete_json`](Self::complete_json) and
    /// [`complete_text`](Self::complete_text) replace it in the parts that were scrubbed before it
    /// was found.
    pub fn scrub_reply<T>(&mut self, parts: impl FnOnce(&mut Self) -> T) -> T {
        let reply = OpenReply::new(self);
        parts(&mut *reply.0)
    }

    /// Runs one entry point. A panic in it is a refusal: each placeholder is added in one step, so
    /// the map stays whole.
    fn entry<T>(
        &mut self,
        scrub: impl FnOnce(&mut Self) -> Result<T, ScrubError>,
    ) -> Result<T, ScrubError> {
        let scrubbed = refuse_panics(|| scrub(self));
        if !self.in_reply {
            self.known_values.end_reply();
        }
        scrubbed
    }

    /// Scrubs a text: a log line, an error, a result that is a string. `tool` is the tool that
    /// returned it, if it came directly from one.
    ///
    /// # Errors
    ///
    /// [`ScrubError::Blocked`] if the text contains a kind that the policy blocks,
    /// [`ScrubError::Panicked`] if the scrubber failed.
    pub fn scrub_text(
        &mut self,
        text: &str,
        tool: Option<&str>,
    ) -> Result<Scrubbed<String>, ScrubError> {
        self.entry(|map| {
            let mut report = Report::default();
            let hidden = map.restored.hide(text);
            let text = hidden.as_deref().unwrap_or(text);
            let scrubbed = map.scrub_string(&StringSource::plain(text, tool), &mut report)?;
            let scrubbed = scrubbed.unwrap_or_else(|| text.to_owned());
            Ok(Scrubbed::new(scrubbed, report).at(map.known_values.additions()))
        })
    }

    /// Scrubs the first `chars` characters of a text, for a preview.
    ///
    /// # Errors
    ///
    /// [`ScrubError::Blocked`] if the beginning contains a kind that the policy blocks,
    /// [`ScrubError::Panicked`] if the scrubber failed.
    pub fn scrub_beginning(
        &mut self,
        text: &str,
        tool: Option<&str>,
        chars: usize,
    ) -> Result<Scrubbed<String>, ScrubError> {
        // More is scanned than shown, so that no private value is cut in half before it is found.
        let most = chars.saturating_mul(4).saturating_add(BEGINNING_MARGIN);
        let scanned = &text[..text.floor_char_boundary(most)];
        let scrubbed = self.scrub_text(scanned, tool)?;
        let shown = match scanned.len() < text.len() {
            true => scrubbed.floor_char_boundary(scrubbed.len().saturating_sub(BEGINNING_MARGIN)),
            false => scrubbed.len(),
        };
        let short: String = scrubbed[..shown].chars().take(chars).collect();
        // A part of a scrubbed text is scrubbed; the second scan proves it.
        self.scrub_text(&short, tool)
    }

    /// Scrubs consecutive lines, such as logs. A value split over two lines is found.
    ///
    /// # Errors
    ///
    /// [`ScrubError::Blocked`] if a line contains a kind that the policy blocks,
    /// [`ScrubError::Panicked`] if the scrubber failed.
    pub fn scrub_lines(
        &mut self,
        lines: &[String],
        tool: Option<&str>,
    ) -> Result<Scrubbed<Vec<String>>, ScrubError> {
        self.entry(|map| {
            let hide = |line: &String| map.restored.hide(line).unwrap_or_else(|| line.clone());
            let lines: Vec<String> = lines.iter().map(hide).collect();
            json::scrub_lines(map, &lines, tool)
        })
    }

    /// Scrubs every string, key and number of a JSON value; its structure stays.
    ///
    /// # Errors
    ///
    /// [`ScrubError::Blocked`] if the value contains a kind that the policy blocks,
    /// [`ScrubError::Panicked`] if the scrubber failed.
    pub fn scrub_json(
        &mut self,
        mut value: Value,
        tool: Option<&str>,
    ) -> Result<Scrubbed<Value>, ScrubError> {
        self.entry(|map| {
            let mut report = Report::default();
            let known = map.known_values.additions();
            map.restored.hide_in_json(&mut value);
            json::scrub(map, &mut value, tool, &mut report)?;
            let scrubbed = Scrubbed::new(value, report).at(known);
            json::complete(map, scrubbed, tool)
        })
    }

    /// Replaces the values in a scrubbed JSON value that became known after it was scrubbed.
    ///
    /// # Errors
    ///
    /// As [`scrub_json`](Self::scrub_json).
    pub fn complete_json(
        &mut self,
        scrubbed: Scrubbed<Value>,
        tool: Option<&str>,
    ) -> Result<Scrubbed<Value>, ScrubError> {
        self.entry(|map| json::complete(map, scrubbed, tool))
    }

    /// Replaces the values in a scrubbed text that became known after it was scrubbed.
    ///
    /// # Errors
    ///
    /// As [`scrub_text`](Self::scrub_text).
    pub fn complete_text(
        &mut self,
        scrubbed: Scrubbed<String>,
        tool: Option<&str>,
    ) -> Result<Scrubbed<String>, ScrubError> {
        self.entry(|map| {
            if !scrubbed.is_before(map.known_values.additions()) {
                return Ok(scrubbed);
            }
            let (mut text, mut report) = scrubbed.into_parts();
            json::replace_known_text(map, &mut text, tool, &mut report)?;
            Ok(Scrubbed::new(text, report).at(map.known_values.additions()))
        })
    }

    /// Checks binary data in base64, such as an image or audio, and returns it unchanged. Returns
    /// `None` for invalid base64, for bytes that are UTF-8 text, and for bytes with readable
    /// private data in them.
    pub fn scrub_binary(&mut self, base64: &str) -> Option<Scrubbed<String>> {
        let checked = self.entry(|map| Ok(map.checked_binary(base64)));
        checked.ok().flatten()
    }

    fn checked_binary(&self, base64: &str) -> Option<Scrubbed<String>> {
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
        // Bytes outside ASCII became line breaks, so this is valid UTF-8.
        let readable = String::from_utf8(readable).ok()?;
        let known = Some(&self.known_values);
        let found = self.scrubber.candidates(&readable, None, None, known);
        // The model finds names in noise; the other detectors do not.
        let is_noise = |c: &Candidate| c.detector.name == entities::DETECTOR.name;
        let is_clean = found.iter().all(is_noise) && self.restored.hide(&readable).is_none();
        is_clean.then(|| Scrubbed::new(base64.to_owned(), Report::default()))
    }

    /// The text with placeholders in the place of values that were restored for a tool; `None` if it
    /// has none of them. Errors of a call can quote its arguments.
    pub fn hide_restored(&self, text: &str) -> Option<String> {
        self.restored.hide(text)
    }

    /// The scrubbed string, or `None` if nothing in it was private.
    pub(crate) fn scrub_string(
        &mut self,
        source: &StringSource<'_>,
        report: &mut Report,
    ) -> Result<Option<String>, ScrubError> {
        let mut found = Report::default();
        let rounds = self.scrub_rounds(source, &mut found)?;
        let mut scrubbed = rounds.scrubbed;
        // A finding that extends past the end of a JSON string would break the JSON. Such a text is
        // parsed and scrubbed string by string.
        if scrubbed.as_ref().is_some_and(|out| {
            rounds.may_break_json && replace::is_json(source.text) && !replace::is_json(out)
        }) && let Ok(mut value) = serde_json::from_str::<Value>(source.text)
        {
            found = Report::default();
            json::scrub(self, &mut value, source.tool, &mut found)?;
            scrubbed = Some(value.to_string());
        }
        report.merge(found);
        Ok(scrubbed)
    }

    fn scrub_rounds(
        &mut self,
        source: &StringSource<'_>,
        report: &mut Report,
    ) -> Result<Rounds, ScrubError> {
        let mut scrubbed: Option<String> = None;
        let mut may_break_json = false;
        for _ in 0..MAX_ROUNDS {
            let text = scrubbed.as_deref().unwrap_or(source.text);
            let known = Some(&self.known_values);
            let candidates = self.scrubber.hidden_candidates(
                text,
                source.key,
                source.tool,
                known,
                self.hides(source.tool, source.pointer),
            );
            if candidates.is_empty() {
                break;
            }
            for candidate in &candidates {
                // The next round finds further occurrences.
                self.known_values
                    .add(candidate, &text[candidate.start..candidate.end]);
            }
            let mut locator = Locator::new(text);
            locator.pointer = (source.pointer)();
            let mut replacements = Vec::with_capacity(candidates.len());
            for candidate in &candidates {
                let value = &text[candidate.start..candidate.end];
                may_break_json |= replace::may_break_json(value);
                let replacement = self.replacement(candidate, value, false, source.tool)?;
                report.add(candidate.kind, || finding(candidate, &mut locator));
                replacements.push((candidate.start..candidate.end, replacement));
            }
            scrubbed = Some(replace::replace(text, &replacements));
        }
        Ok(Rounds {
            scrubbed,
            may_break_json,
        })
    }

    /// The replacement for a value, as the policy says; a redacted value is added to the map.
    pub(crate) fn replacement(
        &mut self,
        candidate: &Candidate,
        value: &str,
        number: bool,
        tool: Option<&str>,
    ) -> Result<String, ScrubError> {
        let kind = candidate.kind;
        let verdict = self.scrubber.verdict(kind, candidate.detector, tool);
        match self.decided(verdict.action, kind) {
            Action::Ask => Err(ScrubError::Undecided {
                kind,
                detector: candidate.detector.name.to_owned(),
            }),
            Action::Block => Err(ScrubError::Blocked {
                kind,
                detector: candidate.detector.name.to_owned(),
                tool: tool.map(str::to_owned),
            }),
            Action::Mask => Ok(placeholder::masked(value)),
            Action::Hash => Ok(placeholder::hashed(
                kind,
                self.scrubber.hash(kind, &canonical(value)),
            )),
            Action::Allow => Ok(value.to_owned()),
            Action::Redact => {
                let hash = self.scrubber.hash(kind, &canonical(value));
                if let Some(placeholder) = self.placeholders.get(&hash).cloned() {
                    self.add_origins(&placeholder, value);
                    return Ok(placeholder);
                }
                if self.placeholders.len() >= self.scrubber.max_entries() {
                    return Ok(placeholder::bare(kind));
                }
                let counter = self.counters.entry(kind).or_default();
                *counter += 1;
                let number_of_kind = *counter;
                let is_reversible = verdict.reversible && value.len() <= MAX_VALUE_BYTES;
                let tag = self.tag_key.filter(|_| is_reversible);
                let placeholder = match &tag {
                    Some(key) => placeholder::tagged(
                        kind,
                        number_of_kind,
                        tag_bits(key, kind, number_of_kind),
                    ),
                    None => placeholder::numbered(kind, number_of_kind),
                };
                self.placeholders.insert(hash, placeholder.clone());
                if tag.is_some() {
                    let original = Original {
                        value: value.to_owned(),
                        number,
                        origins: Vec::new(),
                        kind,
                        detector: candidate.detector,
                    };
                    self.originals.insert(placeholder.clone(), original);
                    self.add_origins(&placeholder, value);
                }
                Ok(placeholder)
            }
        }
    }

    pub(crate) fn scrubber(&self) -> &Arc<Scrubber> {
        &self.scrubber
    }

    pub(crate) fn set_origins(&mut self, origins: Weak<RunOrigins>) {
        self.origins = origins;
    }

    /// Remembers where a value was seen.
    fn add_origins(&mut self, placeholder: &str, value: &str) {
        let Some(run) = self.origins.upgrade() else {
            return;
        };
        let Some(original) = self.originals.get_mut(placeholder) else {
            return;
        };
        if original.origins.len() >= MAX_ORIGINS {
            return;
        }
        for origin in run.of_value(value) {
            if !original.origins.contains(&origin) {
                original.origins.push(origin);
            }
        }
    }

    /// Adds a value that a placeholder of another session stands for.
    pub(crate) fn add_original(&mut self, placeholder: String, original: Original) {
        if self.tag_key.is_some() && self.originals.len() < self.scrubber.max_entries() {
            self.originals.entry(placeholder).or_insert(original);
        }
    }

    /// The value that a placeholder stands for.
    pub(crate) fn original(&self, placeholder: &str) -> Option<&Original> {
        self.originals.get(placeholder)
    }

    /// The value that a placeholder stands for, if the model wrote the placeholder and its kind is
    /// reversible for this tool.
    pub(crate) fn original_for(
        &self,
        placeholder: &str,
        destination: &Destination<'_>,
    ) -> Option<&Original> {
        if !destination.written.contains(placeholder) {
            return None;
        }
        let original = self.originals.get(placeholder)?;
        let verdict =
            self.scrubber
                .verdict(original.kind, original.detector, Some(destination.tool));
        verdict.reversible.then_some(original)
    }

    /// From now on the value is hidden wherever it stands.
    pub(crate) fn mark_restored(&mut self, placeholder: &str) {
        if let Some(original) = self.originals.get(placeholder) {
            self.restored.add(&original.value, placeholder);
        }
    }
}

/// A reply whose parts are being scrubbed. It ends when this is dropped, also by a panic.
struct OpenReply<'m>(&'m mut PlaceholderMap);

impl<'m> OpenReply<'m> {
    fn new(map: &'m mut PlaceholderMap) -> Self {
        map.known_values.end_reply();
        map.in_reply = true;
        Self(map)
    }
}

impl Drop for OpenReply<'_> {
    fn drop(&mut self) {
        self.0.in_reply = false;
        self.0.known_values.end_reply();
    }
}

/// The random part of a placeholder.
fn tag_bits(key: &[u8; 16], kind: Kind, number: u32) -> u128 {
    let mut hasher = SipHasher13::new_with_key(key);
    (kind, number).hash(&mut hasher);
    hasher.finish128().as_u128()
}

/// The result of scrubbing a text until nothing private is left.
struct Rounds {
    /// `None` if nothing was private.
    scrubbed: Option<String>,
    may_break_json: bool,
}

/// The form in which values are compared. A number written with spaces or dashes is the same
/// number, and addresses ignore case; a word in capitals is not always the same word, so others
/// stay as they are.
fn canonical(value: &str) -> String {
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

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_reply_ends_when_a_part_of_it_panics() {
        let scrubber = Scrubber::new(&Default::default()).expect("a valid configuration");
        let mut map = PlaceholderMap::new(Arc::new(scrubber));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            map.scrub_reply::<()>(|_| panic!("a fault of the caller"))
        }));
        assert!(panicked.is_err());
        assert!(!map.in_reply);
    }
}
