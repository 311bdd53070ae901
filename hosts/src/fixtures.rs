//! Answers written by hand, for a dry run.

use std::collections::BTreeMap;
use std::path::Path;

use pml_protocol::Failure;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::bounded_read;
use crate::error::ReplayError;
use crate::recording::RecordedAnswer;

/// By tool id: one answer, or several of which the first that fits the arguments is used.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Fixtures(BTreeMap<String, OneOrMore>);

#[derive(Debug)]
enum OneOrMore {
    More(Vec<Fixture>),
    One(Fixture),
}

/// Written by hand: a derived untagged enum would hide the mistake in a fixture.
impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let read = match value.is_array() {
            true => serde_json::from_value(value).map(Self::More),
            false => serde_json::from_value(value).map(Self::One),
        };
        read.map_err(D::Error::custom)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture {
    /// Arguments that a call must have; it may have others besides.
    #[serde(default)]
    args: Map<String, Value>,
    value: Option<Value>,
    failure: Option<Failure>,
}

impl Fixtures {
    /// Reads fixtures from a JSON file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or is not a fixture file.
    pub fn load(path: &Path) -> Result<Self, ReplayError> {
        serde_json::from_slice(&bounded_read::read(path)?).map_err(|error| {
            ReplayError::MalformedFixtures {
                path: path.to_owned(),
                error,
            }
        })
    }

    /// The tools that have a fixture.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The answer for a call, if there is one.
    pub fn find(&self, tool: &str, args: &Value) -> Option<RecordedAnswer> {
        let fixtures = match self.0.get(tool)? {
            OneOrMore::More(fixtures) => fixtures.as_slice(),
            OneOrMore::One(fixture) => std::slice::from_ref(fixture),
        };
        let fits = |fixture: &&Fixture| {
            fixture
                .args
                .iter()
                .all(|(name, value)| args.get(name) == Some(value))
        };
        fixtures
            .iter()
            .find(fits)
            .map(|fixture| match &fixture.failure {
                Some(failure) => RecordedAnswer::Failure(failure.clone()),
                None => RecordedAnswer::Value(fixture.value.clone().unwrap_or_default()),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_fixture_that_fits_the_arguments_answers() {
        let fixtures: Fixtures = serde_json::from_value(json!({
            "fs:read": [
                { "args": { "path": "a" }, "value": 1 },
                { "args": { "path": "b" }, "failure": { "kind": "tool", "message": "no", "retryable": false } },
                { "value": 3 }
            ],
            "fs:list": { "value": [] }
        }))
        .unwrap();
        let read = |path: &str| fixtures.find("fs:read", &json!({ "path": path, "more": 1 }));
        assert_eq!(read("a"), Some(RecordedAnswer::Value(json!(1))));
        assert!(matches!(read("b"), Some(RecordedAnswer::Failure(_))));
        assert_eq!(read("c"), Some(RecordedAnswer::Value(json!(3))));
        let list = fixtures.find("fs:list", &json!({}));
        assert_eq!(list, Some(RecordedAnswer::Value(json!([]))));
        assert_eq!(fixtures.find("fs:write", &json!({})), None);
    }

    #[test]
    fn a_mistake_in_a_fixture_is_named() {
        for fixture in [json!({ "valu": 1 }), json!([{ "valu": 1 }])] {
            let read: Result<Fixtures, _> = serde_json::from_value(json!({ "fs:read": fixture }));
            let error = read.unwrap_err().to_string();
            assert!(error.contains("unknown field `valu`"), "{error}");
        }
    }
}
