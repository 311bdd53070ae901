//! Regular expressions that are matched in linear time.
//!
//! JSON Schema's patterns may have look-around and back-references, which need an engine that
//! backtracks: one such pattern can take a second for fifty characters. Those patterns are left to the
//! server.

use std::collections::HashMap;

use jsonschema::{PatternOptions, ValidationOptions};
use serde_json::{Value, json};

/// Bytes of a pattern.
const MAX_PATTERN_BYTES: usize = 2_000;
/// Different patterns of one schema.
const MAX_PATTERNS: usize = 200;
/// Bytes of one compiled pattern, and of the cache of its states.
const MAX_COMPILED_BYTES: usize = 256 * 1024;
/// Keywords whose value is data and no schema.
const DATA: [&str; 5] = ["const", "default", "enum", "examples", "example"];
/// Keywords that accept less if a subschema accepts more. A pattern cannot be left out beside them.
const INVERTING: [&str; 4] = ["if", "maxContains", "not", "oneOf"];

/// The options of every validator.
pub fn options() -> ValidationOptions<'static> {
    let patterns = PatternOptions::regex()
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_COMPILED_BYTES);
    jsonschema::options()
        .with_pattern_options(patterns)
        // Formats are left to the server: definitions of a URL, for example, differ.
        .should_validate_formats(false)
        // Text inside of a string would be decoded and parsed.
        .without_content_media_type_support("application/json")
        .without_content_encoding_support("base64")
}

/// Removes the patterns that cannot be matched in linear time, and returns how many.
///
/// # Errors
/// The schema would mean something else without them.
pub fn without_unsupported(schema: &mut Value) -> Result<usize, String> {
    let mut patterns = Patterns::default();
    patterns.visit(schema)?;
    if patterns.removed > 0 && patterns.has_inverting {
        return Err("a pattern beside `not`, `if` or `oneOf` needs look-around, back-references or too much memory".to_owned());
    }
    Ok(patterns.removed)
}

#[derive(Default)]
struct Patterns {
    supported: HashMap<String, bool>,
    removed: usize,
    has_inverting: bool,
}

impl Patterns {
    fn visit(&mut self, value: &mut Value) -> Result<(), String> {
        let keywords = match value {
            Value::Array(items) => return items.iter_mut().try_for_each(|item| self.visit(item)),
            Value::Object(keywords) => keywords,
            _ => return Ok(()),
        };
        let pattern = keywords.get("pattern").and_then(Value::as_str);
        if pattern.is_some_and(|pattern| !self.is_supported(pattern)) {
            keywords.remove("pattern");
            self.removed += 1;
        }
        let by_name = keywords.get("patternProperties").and_then(Value::as_object);
        let unsupported = by_name.is_some_and(|by_name| {
            let mut names = by_name.keys();
            names.any(|pattern| !self.is_supported(pattern))
        });
        if unsupported {
            return Err("a pattern of `patternProperties` needs look-around, back-references or too much memory".to_owned());
        }
        self.has_inverting |= INVERTING
            .iter()
            .any(|keyword| keywords.contains_key(*keyword));
        keywords
            .iter_mut()
            .filter(|(keyword, _)| !DATA.contains(&keyword.as_str()))
            .try_for_each(|(_, value)| self.visit(value))
    }

    fn is_supported(&mut self, pattern: &str) -> bool {
        if let Some(known) = self.supported.get(pattern) {
            return *known;
        }
        let supported = pattern.len() <= MAX_PATTERN_BYTES
            && self.supported.len() < MAX_PATTERNS
            && options().build(&json!({ "pattern": pattern })).is_ok();
        self.supported.insert(pattern.to_owned(), supported);
        supported
    }
}
