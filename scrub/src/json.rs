//! Traverses JSON values: scrubs strings, keys and numbers.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use crate::placeholder_map::StringSource;
use crate::scan::Candidate;
use crate::scrubber::{Locator, finding};
use crate::{PlaceholderMap, Report, ScrubError, Scrubbed, replace};

/// A JSON number with fewer than seven digits is not checked: cards and ids are longer.
const MIN_NUMBER: u64 = 1_000_000;
/// An object with more fields is a record, whose `value` is one of many things.
const MAX_PAIR_FIELDS: usize = 8;
/// A longer key is data, not a name for data.
const MAX_KEY_BYTES: usize = 48;

/// Scrubs a JSON value in place.
pub(crate) fn scrub(
    placeholders: &mut PlaceholderMap,
    value: &mut Value,
    tool: Option<&str>,
    report: &mut Report,
) -> Result<(), ScrubError> {
    let mut traversal = Traversal {
        placeholders,
        tool,
        report,
        known_keys: HashMap::new(),
    };
    traversal.value(value, None, &Path::Root)
}

/// The path of the current value. It lives on the stack and becomes a JSON pointer only for a
/// finding.
enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl Path<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Key(above, key) => {
                format!(
                    "{}/{}",
                    above.pointer(),
                    key.replace('~', "~0").replace('/', "~1")
                )
            }
            Self::Index(above, index) => format!("{}/{index}", above.pointer()),
        }
    }
}

/// The nearest key above a value, and whether it identifies the kind of the values below it.
#[derive(Clone, Copy)]
struct Key<'k> {
    name: &'k str,
    matters: bool,
}

struct Traversal<'s> {
    placeholders: &'s mut PlaceholderMap,
    tool: Option<&'s str>,
    report: &'s mut Report,
    /// Keys repeat in every record; each is checked once.
    known_keys: HashMap<String, bool>,
}

impl Traversal<'_> {
    /// The items of `"emails": […]` have that key too.
    fn value(
        &mut self,
        value: &mut Value,
        key: Option<Key<'_>>,
        path: &Path<'_>,
    ) -> Result<(), ScrubError> {
        match value {
            Value::String(text) => {
                let has_context = || key.is_some_and(|key| key.matters);
                if is_plain(text) && !has_context() && !self.is_known(text) {
                    return Ok(());
                }
                let source = StringSource {
                    text,
                    key: key.map(|key| key.name),
                    tool: self.tool,
                    pointer: &|| path.pointer(),
                };
                let scrubbed = self.placeholders.scrub_string(&source, self.report)?;
                if let Some(scrubbed) = scrubbed {
                    *text = scrubbed;
                }
            }
            Value::Number(number) => {
                if let Some(digits) = digits(number)
                    && let Some(replacement) =
                        self.number(number, &digits, key.map(|key| key.name), path)?
                {
                    *value = Value::String(replacement);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(item, key, &Path::Index(path, index))?;
                }
            }
            Value::Object(fields) => self.object(fields, path)?,
            Value::Null | Value::Bool(_) => {}
        }
        Ok(())
    }

    fn object(
        &mut self,
        fields: &mut Map<String, Value>,
        path: &Path<'_>,
    ) -> Result<(), ScrubError> {
        let mut renamed = HashMap::new();
        let title = pair_title(fields);
        for (key, value) in fields.iter_mut() {
            let mut new = None;
            if may_be_private(key) || self.is_known(key) {
                let source = StringSource {
                    text: key,
                    key: None,
                    tool: self.tool,
                    pointer: &|| format!("{}/*", path.pointer()),
                };
                new = self.placeholders.scrub_string(&source, self.report)?;
            }
            // The values below see the scrubbed key: a private one is not context any more.
            let shown = new.as_deref().unwrap_or(key);
            let name = match &title {
                Some(title) if is_value_key(key) => title,
                _ => shown,
            };
            let key_hint = (!name.is_empty() && name.len() <= MAX_KEY_BYTES).then(|| Key {
                name,
                matters: self.key_matters(name),
            });
            self.value(value, key_hint, &Path::Key(path, shown))?;
            if let Some(new) = new {
                renamed.insert(key.clone(), new);
            }
        }
        rename(fields, &renamed);
        Ok(())
    }

    /// Whether a plain ASCII text contains a known value.
    fn is_known(&self, text: &str) -> bool {
        let known = &self.placeholders.known_values;
        !known.occurrences(text, 0).is_empty()
    }

    fn key_matters(&mut self, key: &str) -> bool {
        if let Some(known) = self.known_keys.get(key) {
            return *known;
        }
        let matters = self.placeholders.scrubber().key_matters(key);
        self.known_keys.insert(key.to_owned(), matters);
        matters
    }

    fn number(
        &mut self,
        number: &Number,
        text: &str,
        key: Option<&str>,
        path: &Path<'_>,
    ) -> Result<Option<String>, ScrubError> {
        let scrubber = self.placeholders.scrubber().clone();
        // Without a key a number is a count: the empty key keeps it from being a text of its own.
        let known = Some(&self.placeholders.known_values);
        let pointer = || path.pointer();
        let is_hidden = self.placeholders.hides(self.tool, &pointer);
        let found = scrubber.hidden_candidates(text, key.or(Some("")), self.tool, known, is_hidden);
        let Some(candidate) = found.iter().find(|c| c.start == 0 && c.end == text.len()) else {
            return Ok(None);
        };
        let replacement =
            self.placeholders
                .replacement(candidate, &number.to_string(), true, self.tool)?;
        self.placeholders.known_values.add(candidate, text);
        let mut locator = Locator::new(text);
        locator.pointer = path.pointer();
        self.report
            .add(candidate.kind, || finding(candidate, &mut locator));
        Ok(Some(replacement))
    }
}

/// The title of the value in a pair such as `{"name": "DB_PASSWORD", "value": …}`: the strings
/// beside it, its own name last. It is only used as context and never sent.
fn pair_title(fields: &Map<String, Value>) -> Option<String> {
    const TITLES: [&str; 7] = ["type", "label", "field", "Key", "key", "Name", "name"];
    if fields.len() > MAX_PAIR_FIELDS || !fields.keys().any(|key| is_value_key(key)) {
        return None;
    }
    let of = |title: &&str| fields.get(*title)?.as_str();
    let mut words: Vec<&str> = TITLES.iter().filter_map(of).collect();
    while words.iter().map(|word| word.len() + 1).sum::<usize>() > MAX_KEY_BYTES + 1 {
        words.remove(0);
    }
    (!words.is_empty()).then(|| words.join(" "))
}

fn is_value_key(key: &str) -> bool {
    matches!(key, "value" | "Value" | "val")
}

/// The digits of an integer that is large enough, in any of JSON's number formats.
fn digits(number: &Number) -> Option<String> {
    /// 2^53: from here on not every integer has an exact `f64`.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let is_integer = |n: &f64| n.fract() == 0.0 && n.abs() < MAX_EXACT;
    let float = || number.as_f64().filter(is_integer).map(|n| n.abs() as u64);
    let magnitude = number
        .as_u64()
        .or_else(|| number.as_i64().map(i64::unsigned_abs))
        .or_else(float)?;
    (magnitude >= MIN_NUMBER).then(|| magnitude.to_string())
}

/// Lower-case words alone are private only if a key says so.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|b| b.is_ascii_lowercase() || matches!(b, b' ' | b'_' | b'-' | b'.' | b',' | b'/'))
}

/// An unused key. Masked keys can coincide, and none may overwrite another's value. `number`
/// continues from the last one in use, so that many equal keys do not take quadratic time.
fn free_key(fields: &Map<String, Value>, wanted: &str, number: &mut u32) -> String {
    let mut key = wanted.to_owned();
    while fields.contains_key(&key) {
        key = format!("{wanted} ({number})");
        *number += 1;
    }
    key
}

/// Whether a key is scanned; most keys are plain names.
fn may_be_private(key: &str) -> bool {
    !key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_') || key.len() > MAX_KEY_BYTES
}

/// Scrubs consecutive lines as one text.
pub(crate) fn scrub_lines(
    placeholders: &mut PlaceholderMap,
    lines: &[String],
    tool: Option<&str>,
) -> Result<Scrubbed<Vec<String>>, ScrubError> {
    let mut report = Report::default();
    let whole = lines.join("\n");
    let scrubber = placeholders.scrubber().clone();
    let mut out = Vec::with_capacity(lines.len());
    let known = Some(&placeholders.known_values);
    let is_hidden = placeholders.hides(tool, &String::new);
    let found = scrubber.hidden_candidates(&whole, None, tool, known, is_hidden);
    for candidate in &found {
        // The scan of each line by itself finds further occurrences.
        let value = &whole[candidate.start..candidate.end];
        placeholders.known_values.add(candidate, value);
    }
    let mut locator = Locator::new(&whole);
    let mut found = found.iter().peekable();
    let mut start = 0;
    for line in lines {
        let end = start + line.len();
        let mut text = String::with_capacity(line.len());
        let mut at = start;
        // A value that continues in the next line is replaced in this one and cut from that one.
        while let Some(candidate) = found.peek().filter(|c| c.start < end) {
            if candidate.start >= start {
                let value = &whole[candidate.start..candidate.end];
                text.push_str(&whole[at..candidate.start]);
                text.push_str(&placeholders.replacement(candidate, value, false, tool)?);
                report.add(candidate.kind, || finding(candidate, &mut locator));
            }
            at = candidate.end.min(end);
            if candidate.end > end {
                break;
            }
            found.next();
        }
        text.push_str(&whole[at.max(start)..end]);
        // Each line is scrubbed again by itself, because the remainder may be private too.
        let again = placeholders.scrub_string(&StringSource::plain(&text, tool), &mut report)?;
        out.push(again.unwrap_or(text));
        start = end + 1;
    }
    Ok(Scrubbed::new(out, report).at(placeholders.known_values.additions()))
}

/// Replaces the values in a JSON value that became known after it was scrubbed.
pub(crate) fn complete(
    placeholders: &mut PlaceholderMap,
    scrubbed: Scrubbed<Value>,
    tool: Option<&str>,
) -> Result<Scrubbed<Value>, ScrubError> {
    if !scrubbed.is_before(placeholders.known_values.additions()) {
        return Ok(scrubbed);
    }
    let (mut value, mut report) = scrubbed.into_parts();
    replace_known(placeholders, &mut value, tool, &mut report)?;
    Ok(Scrubbed::new(value, report).at(placeholders.known_values.additions()))
}

/// Replaces the known values in a text, and returns whether there were any.
pub(crate) fn replace_known_text(
    placeholders: &mut PlaceholderMap,
    text: &mut String,
    tool: Option<&str>,
    report: &mut Report,
) -> Result<bool, ScrubError> {
    let scrubber = placeholders.scrubber().clone();
    let is_hidden = |c: &Candidate| !placeholders.is_decided_shown(c, tool);
    let known = &placeholders.known_values;
    let candidates = scrubber.known_candidates(text, tool, known, is_hidden);
    let mut replacements = Vec::with_capacity(candidates.len());
    let mut locator = Locator::new(text);
    for candidate in &candidates {
        let value = &text[candidate.start..candidate.end];
        let replacement = placeholders.replacement(candidate, value, false, tool)?;
        report.add(candidate.kind, || finding(candidate, &mut locator));
        replacements.push((candidate.start..candidate.end, replacement));
    }
    if !replacements.is_empty() {
        *text = replace::replace(text, &replacements);
    }
    Ok(!replacements.is_empty())
}

fn replace_known(
    placeholders: &mut PlaceholderMap,
    value: &mut Value,
    tool: Option<&str>,
    report: &mut Report,
) -> Result<(), ScrubError> {
    match value {
        Value::String(text) => {
            replace_known_text(placeholders, text, tool, report)?;
        }
        Value::Number(number) => {
            let Some(text) = digits(number) else {
                return Ok(());
            };
            let scrubber = placeholders.scrubber().clone();
            let is_hidden = |c: &Candidate| !placeholders.is_decided_shown(c, tool);
            let known = &placeholders.known_values;
            let found = scrubber.known_candidates(&text, tool, known, is_hidden);
            if let Some(candidate) = found.iter().find(|c| c.end - c.start == text.len()) {
                let replacement =
                    placeholders.replacement(candidate, &number.to_string(), true, tool)?;
                report.add(candidate.kind, || {
                    finding(candidate, &mut Locator::new(&text))
                });
                *value = Value::String(replacement);
            }
        }
        Value::Array(items) => {
            for item in items {
                replace_known(placeholders, item, tool, report)?;
            }
        }
        Value::Object(fields) => {
            let mut renamed = HashMap::new();
            for (key, value) in fields.iter_mut() {
                let mut new = key.clone();
                if replace_known_text(placeholders, &mut new, tool, report)? {
                    renamed.insert(key.clone(), new);
                }
                replace_known(placeholders, value, tool, report)?;
            }
            rename(fields, &renamed);
        }
        Value::Null | Value::Bool(_) => {}
    }
    Ok(())
}

/// Renames keys, in order, so that only those change.
pub(crate) fn rename(fields: &mut Map<String, Value>, renamed: &HashMap<String, String>) {
    if renamed.is_empty() {
        return;
    }
    let mut numbers = HashMap::new();
    for (key, value) in std::mem::take(fields) {
        let key = match renamed.get(&key) {
            Some(new) => free_key(fields, new, numbers.entry(new.clone()).or_insert(2)),
            // A key of the text itself may look like the placeholder of another.
            None if fields.contains_key(&key) => {
                free_key(fields, &key, numbers.entry(key.clone()).or_insert(2))
            }
            None => key,
        };
        fields.insert(key, value);
    }
}
