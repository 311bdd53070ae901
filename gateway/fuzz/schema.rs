//! Fuzzes the limits of schemas: a tool with any schema is refused or validates any arguments, without
//! a panic, within libFuzzer's `-timeout` and `-rss_limit_mb`.
//!
//! The input is JSON, an array of a schema and arguments, or else the choices of a generator: random
//! text is rarely a schema.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

const DEFINITIONS: u8 = 6;
const MAX_DEPTH: usize = 6;
const LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const SINGLE: [&str; 12] = [
    "not",
    "if",
    "then",
    "else",
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
    "contentSchema",
];
const MAPS: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
];
const PATTERNS: [&str; 10] = [
    "^a+$",
    "(a|aa)*$",
    "((a{9}){9}){9}",
    "(?=a)b",
    r"(a)\1",
    r"^\w{1,50}$",
    "[",
    r"\p{L}",
    "(?<!x)y",
    "[01]*1[01]{20}",
];
const DRAFTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
    "https://example.test/none",
];

fuzz_target!(|data: &[u8]| {
    let (schema, arguments) = match serde_json::from_slice::<[Value; 2]>(data) {
        Ok([schema, arguments]) => (schema, arguments),
        Err(_) => {
            let mut choices = Choices(data);
            (choices.document(), choices.value(MAX_DEPTH))
        }
    };
    pml_gateway::fuzzing::check_schema(schema, &arguments);
});

struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn next(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn one_of<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[usize::from(self.next()) % options.len()]
    }

    fn document(&mut self) -> Value {
        let mut root = self.schema(MAX_DEPTH);
        let definitions: Map<String, Value> = (0..DEFINITIONS)
            .map(|number| (number.to_string(), self.schema(MAX_DEPTH)))
            .collect();
        if let Value::Object(keywords) = &mut root {
            keywords.insert("$defs".to_owned(), Value::Object(definitions));
            if self.next() % 4 == 0 {
                keywords.insert("$schema".to_owned(), json!(self.one_of(&DRAFTS)));
            }
        }
        root
    }

    fn schema(&mut self, depth: usize) -> Value {
        if depth == 0 || self.0.is_empty() {
            return Value::Bool(true);
        }
        let mut keywords = Map::new();
        for _ in 0..self.next() % 4 {
            let (keyword, value) = self.keyword(depth - 1);
            keywords.insert(keyword.to_owned(), value);
        }
        Value::Object(keywords)
    }

    fn keyword(&mut self, depth: usize) -> (&'static str, Value) {
        match self.next() % 12 {
            0 | 1 => {
                let target = self.next() % (DEFINITIONS + 2);
                let reference = match target {
                    DEFINITIONS => "#".to_owned(),
                    number => format!("#/$defs/{number}"),
                };
                ("$ref", json!(reference))
            }
            2 | 3 => {
                let members: Vec<Value> =
                    (0..self.next() % 4).map(|_| self.schema(depth)).collect();
                (self.one_of(&LISTS), json!(members))
            }
            4 | 5 => (self.one_of(&SINGLE), self.schema(depth)),
            6 | 7 => {
                let fields: Map<String, Value> = (0..self.next() % 4)
                    .map(|_| (self.name(), self.schema(depth)))
                    .collect();
                (self.one_of(&MAPS), Value::Object(fields))
            }
            8 => ("pattern", json!(self.one_of(&PATTERNS))),
            9 => ("enum", json!([self.value(2), self.value(2)])),
            10 => ("uniqueItems", json!(true)),
            _ => (
                "type",
                json!(self.one_of(&["object", "array", "string", "number", "null"])),
            ),
        }
    }

    fn name(&mut self) -> String {
        let number = self.next();
        match number % 8 {
            7 => PATTERNS[usize::from(number / 8) % PATTERNS.len()].to_owned(),
            few => char::from(b'a' + few).to_string(),
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.next() % 8 {
            0 | 1 if depth > 0 => {
                let count = self.next() % 5;
                (0..count).map(|_| self.value(depth - 1)).collect()
            }
            2 | 3 | 4 if depth > 0 => {
                let count = self.next() % 5;
                let fields: Map<String, Value> = (0..count)
                    .map(|_| (self.name(), self.value(depth - 1)))
                    .collect();
                Value::Object(fields)
            }
            5 => json!("a".repeat(usize::from(self.next()))),
            6 => json!(self.next()),
            _ => Value::Null,
        }
    }
}
