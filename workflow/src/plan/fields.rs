//! Reads the fields of an object, and notes what is wrong with them.

use std::time::Duration;

use pml_units::{ByteSize, DurationUnit, HumanDuration, SizeUnit};
use serde_json::{Map, Value};

use crate::error::{Problem, shown, suggestion};

/// What is wrong with the plan. Reading goes on, so that one look finds every mistake.
#[derive(Debug, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Notes a mistake.
    pub fn add(&mut self, place: impl Into<String>, message: impl Into<String>) {
        // A hostile plan has a mistake in each of its 100,000 tasks.
        const MAX: usize = 1_000;
        if self.0.len() < MAX {
            self.0.push(Problem::new(place, message));
        }
    }

    /// All of them.
    pub fn into_result(self) -> Result<(), crate::PlanError> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(crate::PlanError::Invalid(self.0)),
        }
    }
}

/// The fields of one object of a plan.
pub struct Fields<'a> {
    pub object: &'a Map<String, Value>,
    pub place: String,
}

impl<'a> Fields<'a> {
    /// Reports fields that do not exist, with the nearest that does.
    pub fn only(&self, known: &[&str], problems: &mut Problems) {
        for key in self.object.keys() {
            if !known.contains(&key.as_str()) {
                let near = suggestion(key, known.iter().copied());
                problems.add(&self.place, format!("unknown field {}{near}", shown(key)));
            }
        }
    }

    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    pub fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.place)
    }

    fn read<T>(
        &self,
        key: &str,
        expected: &str,
        problems: &mut Problems,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(key)?;
        let read = read(value);
        if read.is_none() {
            problems.add(self.at(key), format!("expected {expected}"));
        }
        read
    }

    pub fn text(&self, key: &str, problems: &mut Problems) -> Option<&'a str> {
        self.read(key, "a text", problems, Value::as_str)
    }

    pub fn flag(&self, key: &str, problems: &mut Problems) -> bool {
        self.read(key, "`true` or `false`", problems, Value::as_bool)
            .unwrap_or_default()
    }

    pub fn count(&self, key: &str, problems: &mut Problems) -> Option<usize> {
        let count = |value: &Value| {
            let count = usize::try_from(value.as_u64()?).ok()?;
            (count > 0).then_some(count)
        };
        self.read(key, "a number from 1", problems, count)
    }

    pub fn integer(&self, key: &str, problems: &mut Problems) -> Option<i64> {
        self.read(key, "a whole number", problems, Value::as_i64)
    }

    pub fn object(&self, key: &str, problems: &mut Problems) -> Option<&'a Map<String, Value>> {
        self.read(key, "an object", problems, Value::as_object)
    }

    pub fn duration(&self, key: &str, problems: &mut Problems) -> Option<Duration> {
        let expected = "a time such as `2s`, or milliseconds";
        self.read(key, expected, problems, duration)
    }

    pub fn size(&self, key: &str, problems: &mut Problems) -> Option<u64> {
        let size = |value: &Value| {
            let text = match value {
                Value::Number(number) => number.to_string(),
                Value::String(text) => text.clone(),
                _ => return None,
            };
            let size = ByteSize::parse_with_default(&text, SizeUnit::Mebibyte).ok()?;
            Some(size.bytes())
        };
        self.read(key, "a size such as `64m`, or MiB", problems, size)
    }

    /// One of a few words.
    pub fn word<T: Copy>(
        &self,
        key: &str,
        words: &[(&str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        let names: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        self.read(key, &names.join(" or "), problems, |value| {
            let text = value.as_str()?;
            words
                .iter()
                .find(|(word, _)| *word == text)
                .map(|(_, value)| *value)
        })
    }
}

/// A bare number is milliseconds, as in the plans of other planners.
pub fn duration(value: &Value) -> Option<Duration> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    let time = HumanDuration::parse_with_default(&text, DurationUnit::Millisecond).ok()?;
    Some(time.non_zero().ok()?.get())
}
