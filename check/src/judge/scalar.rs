//! Texts and numbers against the bounds of a schema.

use regex::Regex;
use serde_json::{Map, Value};
use swc_core::common::Span;

use super::problem::{Path, Problem};

pub fn check_text(
    keywords: &Map<String, Value>,
    text: &str,
    span: Span,
    at: &Path,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let count = |key: &str| keywords.get(key).and_then(Value::as_u64);
    let length = text.chars().count() as u64;
    if let Some(least) = count("minLength").filter(|least| length < *least) {
        let what = match (least, length) {
            (1, 0) => "must not be empty".to_owned(),
            _ => format!("must have at least {least} characters, not {length}"),
        };
        problems.push(at.problem(span, &what));
    }
    if let Some(most) = count("maxLength").filter(|most| length > *most) {
        problems.push(at.problem(
            span,
            &format!("must have at most {most} characters, not {length}"),
        ));
    }
    if let Some(Value::String(pattern)) = keywords.get("pattern")
        // A pattern in words that only JavaScript knows refuses nothing; and classes such as `\w`
        // mean the same in both languages for ASCII alone.
        && text.is_ascii()
        && let Ok(regex) = Regex::new(pattern)
        && !regex.is_match(text)
    {
        problems.push(at.problem(span, &format!("must match /{pattern}/")));
    }
    problems
}

pub fn check_number(
    keywords: &Map<String, Value>,
    number: f64,
    span: Span,
    at: &Path,
) -> Vec<Problem> {
    let bound = |key: &str| keywords.get(key).and_then(Value::as_f64);
    let told =
        |what: &str, bound: f64| at.problem(span, &format!("must be {what} {bound}, not {number}"));
    let mut problems = Vec::new();
    problems.extend(
        bound("minimum")
            .filter(|least| number < *least)
            .map(|least| told("at least", least)),
    );
    problems.extend(
        bound("maximum")
            .filter(|most| number > *most)
            .map(|most| told("at most", most)),
    );
    problems.extend(
        bound("exclusiveMinimum")
            .filter(|least| number <= *least)
            .map(|least| told("more than", least)),
    );
    problems.extend(
        bound("exclusiveMaximum")
            .filter(|most| number >= *most)
            .map(|most| told("less than", most)),
    );
    // Fractions do not divide exactly, whole numbers of a moderate size do.
    let divides = |step: f64| {
        step.fract() == 0.0 && number.fract() == 0.0 && step.abs() < 1e15 && number.abs() < 1e15
    };
    problems.extend(
        bound("multipleOf")
            .filter(|step| *step > 0.0 && divides(*step) && number % step != 0.0)
            .map(|step| told("a multiple of", step)),
    );
    problems
}
