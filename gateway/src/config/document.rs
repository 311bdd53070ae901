//! A JSON file with comments: its values, and the line of each.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ConfigError;

/// One step from the root of a document towards a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    Key(String),
    Index(usize),
}

/// The position of a value in a document, displayed as `mcpServers.fs.args[1]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KeyPath(Vec<Step>);

impl KeyPath {
    pub fn root() -> Self {
        Self::default()
    }

    pub fn key(&self, key: impl Into<String>) -> Self {
        self.with(Step::Key(key.into()))
    }

    pub fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the file");
        }
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if position == 0 => write!(f, "{key}")?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A parsed configuration file.
#[derive(Debug)]
pub struct Document {
    pub file: PathBuf,
    pub value: Value,
    lines: HashMap<KeyPath, usize>,
}

impl Document {
    pub fn parse(file: &Path, text: &str) -> Result<Self, ConfigError> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            ..ParseOptions::default()
        };
        // Some editors on Windows write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options)
            .map_err(|error| ConfigError::Syntax {
                file: file.to_owned(),
                line: error.line_display(),
                column: error.column_display(),
                message: error.kind().to_string(),
            })?;
        let mut document = Self {
            file: file.to_owned(),
            value: Value::Null,
            lines: HashMap::new(),
        };
        let line_starts = line_starts(text);
        document.value = match parsed.value {
            Some(root) => document.read_node(&root, &KeyPath::root(), &line_starts)?,
            None => Value::Object(Map::new()),
        };
        Ok(document)
    }

    /// The line of the value, or of the nearest enclosing value that the file contains.
    pub fn line(&self, at: &KeyPath) -> usize {
        let mut at = at.clone();
        loop {
            if let Some(line) = self.lines.get(&at) {
                return *line;
            }
            if at.0.pop().is_none() {
                return 1;
            }
        }
    }

    pub fn invalid(&self, at: &KeyPath, message: impl Into<String>) -> ConfigError {
        ConfigError::Invalid {
            file: self.file.clone(),
            line: self.line(at),
            key: at.to_string(),
            message: message.into(),
        }
    }

    pub fn unknown_key<'a>(
        &self,
        at: &KeyPath,
        key: &str,
        valid: impl IntoIterator<Item = &'a str>,
    ) -> ConfigError {
        ConfigError::UnknownKey {
            file: self.file.clone(),
            line: self.line(at),
            key: at.to_string(),
            nearest: pml_nearest::typos_of(key, valid)
                .first()
                .map(|key| (*key).to_owned()),
        }
    }

    /// Deserializes `value`, which is at `at`. Errors have the line of the invalid value.
    pub fn read<T: DeserializeOwned>(&self, value: Value, at: &KeyPath) -> Result<T, ConfigError> {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let mut place = at.clone();
            for segment in error.path().iter() {
                match segment {
                    serde_path_to_error::Segment::Map { key } => place = place.key(key),
                    serde_path_to_error::Segment::Seq { index } => place = place.index(*index),
                    _ => {}
                }
            }
            let message = error.into_inner().to_string();
            match unknown_field(&message) {
                Some((key, valid)) => {
                    if !matches!(place.0.last(), Some(Step::Key(last)) if last == key) {
                        place = place.key(key);
                    }
                    self.unknown_key(&place, key, valid)
                }
                None => self.invalid(&place, message),
            }
        })
    }

    fn read_node(
        &mut self,
        node: &ast::Value<'_>,
        at: &KeyPath,
        line_starts: &[usize],
    ) -> Result<Value, ConfigError> {
        // For a member of an object, the line of its key is recorded already.
        self.lines
            .entry(at.clone())
            .or_insert_with(|| line_of(line_starts, node.start()));
        Ok(match node {
            ast::Value::StringLit(text) => Value::String(text.value.to_string()),
            ast::Value::NumberLit(number) => serde_json::from_str(number.value)
                .map_err(|_| self.invalid(at, format!("`{}` is not a number", number.value)))?,
            ast::Value::BooleanLit(boolean) => Value::Bool(boolean.value),
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::Array(array) => {
                let mut values = Vec::with_capacity(array.elements.len());
                for (index, element) in array.elements.iter().enumerate() {
                    values.push(self.read_node(element, &at.index(index), line_starts)?);
                }
                Value::Array(values)
            }
            ast::Value::Object(object) => {
                let mut map = Map::new();
                for property in &object.properties {
                    let name = property.name.as_str();
                    let at = at.key(name);
                    let line = line_of(line_starts, property.start());
                    if let Some(first) = self.lines.insert(at.clone(), line) {
                        return Err(self.invalid(
                            &at,
                            format!("is defined twice, first on line {first}: keep one of them"),
                        ));
                    }
                    let value = self.read_node(&property.value, &at, line_starts)?;
                    map.insert(name.to_owned(), value);
                }
                Value::Object(map)
            }
        })
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0)
        .chain(text.match_indices('\n').map(|(offset, _)| offset + 1))
        .collect()
}

fn line_of(line_starts: &[usize], offset: usize) -> usize {
    line_starts.partition_point(|start| *start <= offset)
}

/// Parses serde's message about an unknown field: the field, and the names that are accepted.
fn unknown_field(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (key, rest) = rest.split_once('`')?;
    Some((key, rest.split('`').skip(1).step_by(2).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    fn parse(text: &str) -> Result<Document, ConfigError> {
        Document::parse(Path::new("a.json"), text)
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    struct Sample {
        #[serde(default)]
        max_calls: u32,
        #[serde(default)]
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    struct Inner {
        rate: f64,
    }

    #[test]
    fn comments_and_trailing_commas_are_read() {
        let document = parse("// top\n{ \"a\": [1, /* two */ 2,], }").unwrap();
        assert_eq!(document.value, serde_json::json!({ "a": [1, 2] }));
    }

    #[test]
    fn a_syntax_error_names_line_and_column() {
        let error = parse("{\n  \"a\": 1\n  \"b\": 2\n}").unwrap_err();
        assert!(error.to_string().starts_with("a.json:2:9: "), "{error}");
    }

    #[test]
    fn a_wrong_value_is_reported_at_its_own_line_and_key() {
        let document = parse("{\n \"pml\": {\n  \"maxCalls\": \"many\"\n }\n}").unwrap();
        let at = KeyPath::root().key("pml");
        let error = document
            .read::<Sample>(document.value["pml"].clone(), &at)
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("a.json:3: `pml.maxCalls`: invalid type"),
            "{text}"
        );
    }

    #[test]
    fn an_unknown_key_is_reported_with_the_nearest_valid_one() {
        let document =
            parse("{\n \"inner\": [\n  { \"rate\": 1.0, \"x\": 1 },\n ],\n \"maxCals\": 3 }")
                .unwrap();
        let text = document
            .read::<Sample>(serde_json::json!({ "maxCals": 3 }), &KeyPath::root())
            .unwrap_err()
            .to_string();
        assert_eq!(
            text,
            "a.json:5: unknown key `maxCals`: did you mean `maxCalls`?"
        );
        let text = document
            .read::<Sample>(
                serde_json::json!({ "inner": [{ "rate": 1.0, "x": 1 }] }),
                &KeyPath::root(),
            )
            .unwrap_err()
            .to_string();
        assert_eq!(text, "a.json:3: unknown key `inner[0].x`: remove it");
    }

    #[test]
    fn a_key_that_is_defined_twice_is_an_error() {
        let text = parse("{\n \"a\": 1,\n \"a\": 2\n}")
            .unwrap_err()
            .to_string();
        assert_eq!(
            text,
            "a.json:3: `a`: is defined twice, first on line 2: keep one of them"
        );
    }
}
