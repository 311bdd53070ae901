//! Fuzzes whole JSON values: objects, arrays, numbers, keys, and pairs such as
//! `{"name": …, "value": …}`, whose strings are raw bytes, pieces that detectors react to, or the
//! base64 of either. Nothing panics, nothing is refused, and the shape stays.

#![no_main]

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use libfuzzer_sys::fuzz_target;
use pml_scrub::{Action, PlaceholderMap, Rule, ScrubConfig, Scrubber, detector_names};
use serde_json::{Map, Value};

/// Every detector on, and the default configuration.
static SCRUBBERS: LazyLock<[Arc<Scrubber>; 2]> = LazyLock::new(|| {
    let all = ScrubConfig {
        min_confidence: 0.0,
        detectors: detector_names()
            .map(|name| (name.to_owned(), Rule::Action(Action::Redact)))
            .collect(),
        ..ScrubConfig::default()
    };
    [all, ScrubConfig::default()]
        .map(|config| Arc::new(Scrubber::new(&config).expect("a valid configuration")))
});

const MAX_DEPTH: usize = 5;

const KEYS: &[&str] = &[
    "name", "value", "Name", "Value", "key", "Key", "val", "label", "type", "field", "password",
    "ssn", "email", "note",
];

const PIECES: &[&str] = &[
    "jo@example.com",
    "4111 1111 1111 1111",
    "536221234",
    "password: Tr0ub4dor3x",
    "password",
    "api_key=",
    "8f2b7c1d9e0a4b6c8d7e",
    "ssn ",
    "Zora Quill",
    "Dear Zora Quill,",
    "+1 415 555 0132",
    "203.0.113.7",
    "https://jo:s3cr3t9@example.com",
    "redis://:p%2Fq%2Fr99x@h",
    "[EMAIL_1]",
    "[A_1]",
    "%40",
    "\\u0040",
    "“",
    "…",
    "\u{200b}",
    " ",
    ": ",
    "OK",
];

/// Reads the fuzzer's bytes as choices; past their end every choice is 0.
struct Choices<'d>(&'d [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> usize {
        match self.0 {
            [first, rest @ ..] => {
                self.0 = rest;
                usize::from(*first)
            }
            [] => 0,
        }
    }

    fn of(&mut self, list: &[&'static str]) -> &'static str {
        list[self.byte() % list.len()]
    }

    fn string(&mut self) -> String {
        let choice = self.byte();
        match choice % 8 {
            0 => self.of(PIECES).to_owned(),
            1 => (0..choice / 8 % 6).map(|_| self.of(PIECES)).collect(),
            2 => STANDARD.encode(self.plain(choice)),
            3 => URL_SAFE_NO_PAD.encode(self.plain(choice)),
            4 => self.of(KEYS).to_owned(),
            5 => format!("{}{}", self.of(PIECES), self.raw(choice)),
            _ => self.raw(choice),
        }
    }

    fn plain(&mut self, choice: usize) -> String {
        match choice / 8 % 2 {
            0 => self.of(PIECES).to_owned(),
            _ => format!("{}{}", self.raw(choice), self.of(PIECES)),
        }
    }

    fn raw(&mut self, choice: usize) -> String {
        let (taken, rest) = self.0.split_at(self.0.len().min(choice / 4));
        self.0 = rest;
        String::from_utf8_lossy(taken).into_owned()
    }

    fn key(&mut self) -> String {
        match self.byte() % 4 {
            0 => self.string(),
            _ => self.of(KEYS).to_owned(),
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        let choice = self.byte();
        match choice % 8 {
            0 | 1 => Value::String(self.string()),
            2 => Value::from((0..8).fold(0_u64, |number, _| number << 8 | self.byte() as u64)),
            3 if depth < MAX_DEPTH => {
                (0..choice / 8 % 4).map(|_| self.value(depth + 1)).collect()
            }
            4 if depth < MAX_DEPTH => {
                let fields = 0..choice / 8 % 6;
                let fields = fields.map(|_| (self.key(), self.value(depth + 1)));
                Value::Object(fields.collect())
            }
            5 | 6 if depth < MAX_DEPTH => {
                let title = ["name", "key", "label", "type", "Name"][choice / 8 % 5];
                let mut pair = Map::new();
                pair.insert(title.to_owned(), Value::String(self.string()));
                pair.insert("value".to_owned(), self.value(depth + 1));
                Value::Object(pair)
            }
            7 => Value::Bool(true),
            _ => Value::Null,
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let value = Choices(data).value(0);
    for scrubber in &*SCRUBBERS {
        let mut placeholders = PlaceholderMap::new(scrubber.clone());
        let scrubbed = placeholders.scrub_json(value.clone(), None);
        let scrubbed = scrubbed.expect("nothing panics, nothing is blocked");
        assert_eq!(shape(&scrubbed), shape(&value), "{value} became {}", *scrubbed);
        let text = placeholders.scrub_text(&value.to_string(), None);
        text.expect("nothing panics, nothing is blocked");
    }
});

/// The shape of a value, which scrubbing keeps.
fn shape(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(shape).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => format!("{{{}}}", fields.len()),
        Value::Bool(_) | Value::Null => value.to_string(),
        Value::String(_) | Value::Number(_) => "leaf".to_owned(),
    }
}
