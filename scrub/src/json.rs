//! Traverses JSON values: scrubs strings, keys and numbers.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use crate::known_values::{KnownValueMatcher, KnownValues};
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
                if is_plain(text) && key.is_none_or(|key| !key.matters) {
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
            if may_be_private(key) {
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
        if renamed.is_empty() {
            return Ok(());
        }
        let mut numbers = HashMap::new();
        // Rebuilt in order, so that only the private keys change.
        for (key, value) in std::mem::take(fields) {
            let key = match renamed.get(&key) {
                Some(new) => free_key(fields, new, numbers.entry(new).or_insert(2)),
                None => key,
            };
            fields.insert(key, value);
        }
        Ok(())
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
        let found = scrubber.candidates(text, key.or(Some("")), self.tool);
        let Some(candidate) = found.iter().find(|c| c.start == 0 && c.end == text.len()) else {
            return Ok(None);
        };
        let replacement =
            self.placeholders
                .replacement(candidate, &number.to_string(), true, self.tool)?;
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
    let found = scrubber.candidates(&whole, None, tool);
    let mut known_values = KnownValues::default();
    for candidate in &found {
        known_values.add(candidate, &whole[candidate.start..candidate.end]);
    }
    let found = known_values.complete(&whole, found);
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
    Ok(Scrubbed::new(out, report))
}

/// Replaces the further occurrences of values that were found elsewhere in the same JSON value.
pub(crate) fn scrub_known_values(
    placeholders: &mut PlaceholderMap,
    value: &mut Value,
    known_values: &KnownValues,
    tool: Option<&str>,
    report: &mut Report,
) -> Result<(), ScrubError> {
    match known_values.matcher() {
        Some(matcher) => replace_known(placeholders, value, &matcher, tool, report),
        None => Ok(()),
    }
}

fn replace_known(
    placeholders: &mut PlaceholderMap,
    value: &mut Value,
    matcher: &KnownValueMatcher<'_>,
    tool: Option<&str>,
    report: &mut Report,
) -> Result<(), ScrubError> {
    match value {
        Value::String(text) => {
            let candidates = matcher.occurrences(text, &[]);
            let mut replacements = Vec::with_capacity(candidates.len());
            for candidate in &candidates {
                let value = &text[candidate.start..candidate.end];
                let replacement = placeholders.replacement(candidate, value, false, tool)?;
                report.add(candidate.kind, || {
                    finding(candidate, &mut Locator::new(text))
                });
                replacements.push((candidate.start..candidate.end, replacement));
            }
            if !replacements.is_empty() {
                *text = replace::replace(text, &replacements);
            }
        }
        Value::Number(number) => {
            let text = number.to_string();
            let candidates = matcher.occurrences(&text, &[]);
            let is_whole = |c: &&Candidate| c.end - c.start == text.len();
            if let Some(candidate) = candidates.iter().find(is_whole) {
                let replacement = placeholders.replacement(candidate, &text, true, tool)?;
                report.add(candidate.kind, || {
                    finding(candidate, &mut Locator::new(&text))
                });
                *value = Value::String(replacement);
            }
        }
        Value::Array(items) => {
            for item in items {
                replace_known(placeholders, item, matcher, tool, report)?;
            }
        }
        Value::Object(fields) => {
            for value in fields.values_mut() {
                replace_known(placeholders, value, matcher, tool, report)?;
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
    Ok(())
}
