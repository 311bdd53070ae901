//! Strings and numbers against the bounds of a schema.

use regex::Regex;
use serde_json::{Map, Value};
use swc_core::common::Span;

use super::violation::{Path, Violation};

pub fn check_text(
    keywords: &Map<String, Value>,
    text: &str,
    span: Span,
    at: &Path,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let count = |key: &str| keywords.get(key).and_then(Value::as_u64);
    let length = text.chars().count() as u64;
    if let Some(least) = count("minLength").filter(|least| length < *least) {
        let what = match (least, length) {
            (1, 0) => "must not be empty".to_owned(),
            _ => format!("must have at least {least} characters, not {length}"),
        };
        violations.push(at.violation(span, &what));
    }
    if let Some(most) = count("maxLength").filter(|most| length > *most) {
        violations.push(at.violation(
            span,
            &format!("must have at most {most} characters, not {length}"),
        ));
    }
    if let Some(Value::String(pattern)) = keywords.get("pattern")
        // A pattern that only JavaScript supports accepts everything. Classes such as `\w` mean the
        // same in both languages only for ASCII.
        && text.is_ascii()
        && let Ok(regex) = Regex::new(pattern)
        && !regex.is_match(text)
    {
        violations.push(at.violation(span, &format!("must match /{pattern}/")));
    }
    violations
}

pub fn check_number(
    keywords: &Map<String, Value>,
    number: f64,
    span: Span,
    at: &Path,
) -> Vec<Violation> {
    let bound = |key: &str| keywords.get(key).and_then(Value::as_f64);
    let outside = |what: &str, bound: f64| {
        at.violation(span, &format!("must be {what} {bound}, not {number}"))
    };
    let mut violations = Vec::new();
    violations.extend(
        bound("minimum")
            .filter(|least| number < *least)
            .map(|least| outside("at least", least)),
    );
    violations.extend(
        bound("maximum")
            .filter(|most| number > *most)
            .map(|most| outside("at most", most)),
    );
    violations.extend(
        bound("exclusiveMinimum")
            .filter(|least| number <= *least)
            .map(|least| outside("more than", least)),
    );
    violations.extend(
        bound("exclusiveMaximum")
            .filter(|most| number >= *most)
            .map(|most| outside("less than", most)),
    );
    // Fractions do not divide exactly, integers below 10^15 do.
    let divides = |step: f64| {
        step.fract() == 0.0 && number.fract() == 0.0 && step.abs() < 1e15 && number.abs() < 1e15
    };
    violations.extend(
        bound("multipleOf")
            .filter(|step| *step > 0.0 && divides(*step) && number % step != 0.0)
            .map(|step| outside("a multiple of", step)),
    );
    violations
}
