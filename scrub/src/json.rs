//! Walks JSON values: strings, keys and numbers on the way out, placeholders on the way in.

use serde_json::{Map, Value};

use crate::config::Action;
use crate::scrubber::{Places, finding};
use crate::{Report, ScrubError, Scrubbed, Session, placeholder};

/// A number with fewer digits is no card and no id.
const MIN_DIGITS: usize = 7;
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
        path: Vec::new(),
    };
    walk.value(value, None)
}

struct Walk<'s> {
    session: &'s mut Session,
    tool: Option<&'s str>,
    report: &'s mut Report,
    path: Vec<String>,
}

impl Walk<'_> {
    /// `key` is the nearest key above: the items of `"emails": […]` are e-mails too.
    fn value(&mut self, value: &mut Value, key: Option<&str>) -> Result<(), ScrubError> {
        match value {
            Value::String(text) => {
                let path = &self.path;
                let pointer = || pointer(path);
                let scrubbed =
                    self.session
                        .scrub_string(text, key, self.tool, self.report, &pointer)?;
                if let Some(scrubbed) = scrubbed {
                    *text = scrubbed;
                }
            }
            Value::Number(number) => {
                let text = number.to_string();
                if let Some(replacement) = self.number(&text, key)? {
                    *value = Value::String(replacement);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.path.push(index.to_string());
                    self.value(item, key)?;
                    self.path.pop();
                }
            }
            Value::Object(fields) => self.object(fields)?,
            Value::Null | Value::Bool(_) => {}
        }
        Ok(())
    }

    fn object(&mut self, fields: &mut Map<String, Value>) -> Result<(), ScrubError> {
        let mut renamed = Vec::new();
        for (key, value) in fields.iter_mut() {
            self.path.push(key.clone());
            if may_be_private(key) {
                let path = &self.path[..self.path.len() - 1];
                let pointer = || format!("{}/*", pointer(path));
                let scrubbed =
                    self.session
                        .scrub_string(key, None, self.tool, self.report, &pointer)?;
                if let Some(scrubbed) = scrubbed {
                    // The path of what lies below must not show the key either.
                    self.path.pop();
                    self.path.push(scrubbed.clone());
                    renamed.push((key.clone(), scrubbed));
                }
            }
            let hint = Some(key.as_str()).filter(|k| !k.is_empty() && k.len() <= MAX_KEY);
            self.value(value, hint)?;
            self.path.pop();
        }
        if renamed.is_empty() {
            return Ok(());
        }
        // Rebuilt in order, so that only the private keys change.
        for (key, value) in std::mem::take(fields) {
            let key = match renamed.iter().find(|(old, _)| *old == key) {
                Some((_, new)) => free_key(fields, new),
                None => key,
            };
            fields.insert(key, value);
        }
        Ok(())
    }

    fn number(&mut self, text: &str, key: Option<&str>) -> Result<Option<String>, ScrubError> {
        if text.len() < MIN_DIGITS || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(None);
        }
        let scrubber = self.session.scrubber().clone();
        let found = scrubber.candidates(text, key, self.tool);
        let Some(candidate) = found.iter().find(|c| c.start == 0 && c.end == text.len()) else {
            return Ok(None);
        };
        if scrubber.verdict(candidate, self.tool).action == Action::Allow {
            return Ok(None);
        }
        let replacement = self.session.replacement(candidate, text, true, self.tool)?;
        let mut places = Places::new(text);
        places.pointer = pointer(&self.path);
        self.report
            .add(candidate.kind, || finding(candidate, &mut places));
        Ok(Some(replacement))
    }
}

/// Masked keys can coincide; none may swallow another's value.
fn free_key(fields: &Map<String, Value>, wanted: &str) -> String {
    let mut key = wanted.to_owned();
    let mut number = 2;
    while fields.contains_key(&key) {
        key = format!("{wanted} ({number})");
        number += 1;
    }
    key
}

/// Most keys are plain names, and not looked at.
fn may_be_private(key: &str) -> bool {
    !key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_') || key.len() > MAX_KEY
}

fn pointer(path: &[String]) -> String {
    path.iter()
        .map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1")))
        .collect()
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
