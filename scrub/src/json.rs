//! Walks JSON values: strings, keys and numbers on the way out, placeholders on the way in.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use crate::echo::{Echoes, Finder};
use crate::scrubber::{Places, finding};
use crate::{Report, ScrubError, Scrubbed, Session, placeholder, replace};

/// A number with fewer than seven digits is no card and no id.
const MIN_NUMBER: u64 = 1_000_000;
/// What has more fields is a record, whose `value` is one of many things.
const MAX_PAIR: usize = 8;
/// A longer key is data, not a name for data.
const MAX_KEY: usize = 48;

pub(crate) fn scrub(
    session: &mut Session,
    value: &mut Value,
    tool: Option<&str>,
    report: &mut Report,
) -> Result<(), ScrubError> {
    let mut walk = Walk {
        session,
        tool,
        report,
        known_keys: HashMap::new(),
    };
    walk.value(value, None, &Path::Root)
}

/// Where the walk is; it lives on the stack and is only written out for a finding.
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

/// The nearest key above a value, and whether it says something about what is below.
#[derive(Clone, Copy)]
struct Key<'k> {
    name: &'k str,
    matters: bool,
}

struct Walk<'s> {
    session: &'s mut Session,
    tool: Option<&'s str>,
    report: &'s mut Report,
    /// Keys repeat in every record; each is looked at once.
    known_keys: HashMap<String, bool>,
}

impl Walk<'_> {
    /// The items of `"emails": […]` are below that key too.
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
                let name = key.map(|key| key.name);
                let pointer = || path.pointer();
                let scrubbed =
                    self.session
                        .scrub_string(text, name, self.tool, self.report, &pointer)?;
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
                let pointer = || format!("{}/*", path.pointer());
                new = self
                    .session
                    .scrub_string(key, None, self.tool, self.report, &pointer)?;
            }
            // What lies below sees the key as everyone will: a private one says nothing any more.
            let shown = new.as_deref().unwrap_or(key);
            let name = match &title {
                Some(title) if holds_value(key) => title,
                _ => shown,
            };
            let hint = (!name.is_empty() && name.len() <= MAX_KEY).then(|| Key {
                name,
                matters: self.key_matters(name),
            });
            self.value(value, hint, &Path::Key(path, shown))?;
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
        let matters = self.session.scrubber().key_matters(key);
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
        let scrubber = self.session.scrubber().clone();
        // Without a key a number counts something: it is not looked at as a text of its own.
        let found = scrubber.candidates(text, key.or(Some("")), self.tool);
        let Some(candidate) = found.iter().find(|c| c.start == 0 && c.end == text.len()) else {
            return Ok(None);
        };
        let replacement =
            self.session
                .replacement(candidate, &number.to_string(), true, self.tool)?;
        let mut places = Places::new(text);
        places.pointer = path.pointer();
        self.report
            .add(candidate.kind, || finding(candidate, &mut places));
        Ok(Some(replacement))
    }
}

/// What the pair `{"name": "DB_PASSWORD", "value": …}` calls its value: the strings beside it, its
/// own name last. Only the walk sees it; nothing of it is sent anywhere.
fn pair_title(fields: &Map<String, Value>) -> Option<String> {
    const TITLES: [&str; 7] = ["type", "label", "field", "Key", "key", "Name", "name"];
    if fields.len() > MAX_PAIR || !fields.keys().any(|key| holds_value(key)) {
        return None;
    }
    let of = |title: &&str| fields.get(*title)?.as_str();
    let mut words: Vec<&str> = TITLES.iter().filter_map(of).collect();
    while words.iter().map(|word| word.len() + 1).sum::<usize>() > MAX_KEY + 1 {
        words.remove(0);
    }
    (!words.is_empty()).then(|| words.join(" "))
}

fn holds_value(key: &str) -> bool {
    matches!(key, "value" | "Value" | "val")
}

/// The digits of a whole number that is large enough, however it was sent.
fn digits(number: &Number) -> Option<String> {
    /// From here on not every whole number is one of these.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = |n: &f64| n.fract() == 0.0 && n.abs() < MAX_EXACT;
    let float = || number.as_f64().filter(whole).map(|n| n.abs() as u64);
    let size = number
        .as_u64()
        .or_else(|| number.as_i64().map(i64::unsigned_abs))
        .or_else(float)?;
    (size >= MIN_NUMBER).then(|| size.to_string())
}

/// Small letters and spaces alone are private only where a key says so.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|b| b.is_ascii_lowercase() || matches!(b, b' ' | b'_' | b'-' | b'.' | b',' | b'/'))
}

/// Masked keys can coincide; none may swallow another's value. `number` goes on from the last that
/// was taken, so that many of them do not try each other's.
fn free_key(fields: &Map<String, Value>, wanted: &str, number: &mut u32) -> String {
    let mut key = wanted.to_owned();
    while fields.contains_key(&key) {
        key = format!("{wanted} ({number})");
        *number += 1;
    }
    key
}

/// Most keys are plain names, and not looked at.
fn may_be_private(key: &str) -> bool {
    !key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_') || key.len() > MAX_KEY
}

pub(crate) fn scrub_lines(
    session: &mut Session,
    lines: &[String],
    tool: Option<&str>,
) -> Result<Scrubbed<Vec<String>>, ScrubError> {
    let mut report = Report::default();
    let whole = lines.join("\n");
    let scrubber = session.scrubber().clone();
    let mut out = Vec::with_capacity(lines.len());
    let found = scrubber.candidates(&whole, None, tool);
    let mut echoes = Echoes::default();
    for candidate in &found {
        echoes.add(candidate, &whole[candidate.start..candidate.end]);
    }
    let found = echoes.complete(&whole, found);
    let mut places = Places::new(&whole);
    let mut found = found.iter().peekable();
    let mut start = 0;
    for line in lines {
        let end = start + line.len();
        let mut text = String::with_capacity(line.len());
        let mut at = start;
        // A value that goes on in the next line is replaced in this one and cut from that one.
        while let Some(candidate) = found.peek().filter(|c| c.start < end) {
            if candidate.start >= start {
                let value = &whole[candidate.start..candidate.end];
                text.push_str(&whole[at..candidate.start]);
                text.push_str(&session.replacement(candidate, value, false, tool)?);
                report.add(candidate.kind, || finding(candidate, &mut places));
            }
            at = candidate.end.min(end);
            if candidate.end > end {
                break;
            }
            found.next();
        }
        text.push_str(&whole[at.max(start)..end]);
        // Each line once more by itself: what replacing left must not be private either.
        let again = session.scrub_string(&text, None, tool, &mut report, &String::new)?;
        out.push(again.unwrap_or(text));
        start = end + 1;
    }
    Ok(Scrubbed::new(out, report))
}

/// Replaces the values that were found somewhere in a JSON value wherever else they stand in it.
pub(crate) fn scrub_echoes(
    session: &mut Session,
    value: &mut Value,
    echoes: &Echoes,
    tool: Option<&str>,
    report: &mut Report,
) -> Result<(), ScrubError> {
    match echoes.finder() {
        Some(finder) => echo(session, value, &finder, tool, report),
        None => Ok(()),
    }
}

fn echo(
    session: &mut Session,
    value: &mut Value,
    finder: &Finder<'_>,
    tool: Option<&str>,
    report: &mut Report,
) -> Result<(), ScrubError> {
    match value {
        Value::String(text) => {
            let places = finder.places(text, &[]);
            let mut replacements = Vec::with_capacity(places.len());
            for place in &places {
                let value = &text[place.start..place.end];
                let replacement = session.replacement(place, value, false, tool)?;
                report.add(place.kind, || finding(place, &mut Places::new(text)));
                replacements.push((place.start..place.end, replacement));
            }
            if !replacements.is_empty() {
                *text = replace::replace(text, &replacements);
            }
        }
        Value::Number(number) => {
            let text = number.to_string();
            let places = finder.places(&text, &[]);
            if let Some(place) = places.iter().find(|p| p.end - p.start == text.len()) {
                let replacement = session.replacement(place, &text, true, tool)?;
                report.add(place.kind, || finding(place, &mut Places::new(&text)));
                *value = Value::String(replacement);
            }
        }
        Value::Array(items) => {
            for item in items {
                echo(session, item, finder, tool, report)?;
            }
        }
        Value::Object(fields) => {
            for value in fields.values_mut() {
                echo(session, value, finder, tool, report)?;
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
    Ok(())
}

pub(crate) fn restore(session: &Session, value: &mut Value, tool: &str) -> usize {
    match value {
        Value::String(text) => {
            if let Some(original) = session.original(text, tool).filter(|o| o.number)
                && let Ok(number) = serde_json::from_str(&original.value)
            {
                *value = Value::Number(number);
                return 1;
            }
            let (restored, count) = restored(session, text, tool);
            if count > 0 {
                *text = restored;
            }
            count
        }
        Value::Array(items) => items
            .iter_mut()
            .map(|item| restore(session, item, tool))
            .sum(),
        Value::Object(fields) => {
            let mut count = 0;
            for (key, mut value) in std::mem::take(fields) {
                let (key, in_key) = restored(session, &key, tool);
                count += in_key + restore(session, &mut value, tool);
                fields.insert(key, value);
            }
            count
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn restored(session: &Session, text: &str, tool: &str) -> (String, usize) {
    let mut out = String::new();
    let (mut at, mut count) = (0, 0);
    for span in placeholder::spans(text) {
        if let Some(original) = session.original(&text[span.clone()], tool) {
            out.push_str(&text[at..span.start]);
            out.push_str(&original.value);
            at = span.end;
            count += 1;
        }
    }
    out.push_str(&text[at..]);
    (out, count)
}
