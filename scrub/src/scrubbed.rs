//! The type that proves that a value was scrubbed.

use std::ops::Deref;

use serde_json::value::{RawValue, to_raw_value};

use crate::{Report, ScrubError};

/// A value that is safe to send. Only this crate constructs one, so a function that takes a
/// `Scrubbed<T>` cannot be called with anything else.
#[derive(Debug, Clone, PartialEq)]
pub struct Scrubbed<T> {
    value: T,
    report: Report,
    /// How many values the session knew when this one was scrubbed.
    known: usize,
}

impl<T> Scrubbed<T> {
    pub(crate) fn new(value: T, report: Report) -> Self {
        Self {
            value,
            report,
            known: 0,
        }
    }

    /// Sets how many values the session knew.
    pub(crate) fn at(self, known: usize) -> Self {
        Self { known, ..self }
    }

    /// Whether the session knows values now that it did not know then.
    pub(crate) fn is_before(&self, known: usize) -> bool {
        self.known < known
    }

    /// The findings that were replaced.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The value, without the proof.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// The value and the report, without the proof.
    pub fn into_parts(self) -> (T, Report) {
        (self.value, self.report)
    }
}

impl Scrubbed<serde_json::Value> {
    /// The same value as JSON text. A value always has one: its keys are strings and its numbers
    /// finite.
    pub fn to_json(&self) -> Scrubbed<Box<RawValue>> {
        let json = to_raw_value(&self.value).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Scrubbed::new(json, self.report.clone())
    }
}

/// Texts of the program itself contain no user data.
impl From<&'static str> for Scrubbed<String> {
    fn from(text: &'static str) -> Self {
        Self::new(text.to_owned(), Report::default())
    }
}

/// The error names kinds and rules, never the value.
impl From<&ScrubError> for Scrubbed<String> {
    fn from(error: &ScrubError) -> Self {
        Self::new(error.to_string(), Report::default())
    }
}

impl<T> Deref for Scrubbed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: serde::Serialize> serde::Serialize for Scrubbed<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}
