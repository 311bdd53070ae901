//! Why a plan is refused.

use std::fmt;

use serde::Serialize;

/// A plan that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The text is neither JSON nor YAML, or expands to too much.
    #[error("the plan cannot be read: {0}")]
    Syntax(String),
    /// It can be read, and is wrong.
    #[error("{}", list(.0))]
    Invalid(Vec<Problem>),
}

impl PlanError {
    /// The mistakes, one by one.
    pub fn problems(&self) -> Vec<Problem> {
        match self {
            Self::Syntax(message) => vec![Problem::new("plan", message.clone())],
            Self::Invalid(problems) => problems.clone(),
        }
    }
}

impl From<Problem> for PlanError {
    fn from(problem: Problem) -> Self {
        Self::Invalid(vec![problem])
    }
}

/// One mistake in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where it is, such as `tasks[2].args.path`.
    pub place: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Problem {
    /// A mistake at a place.
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Mistakes in one message at most.
const MAX_LISTED: usize = 20;

fn list(problems: &[Problem]) -> String {
    let mut lines: Vec<String> = problems
        .iter()
        .take(MAX_LISTED)
        .map(ToString::to_string)
        .collect();
    if problems.len() > MAX_LISTED {
        lines.push(format!("and {} more", problems.len() - MAX_LISTED));
    }
    lines.join("\n")
}

/// `name`, short enough for a message.
pub fn shown(name: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut text: String = name
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .take(MAX_CHARS)
        .collect();
    if name.chars().nth(MAX_CHARS).is_some() {
        text.push('…');
    }
    format!("`{text}`")
}

/// `; did you mean …?`, or nothing.
pub fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match pml_nearest::typo_of(name, candidates) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    }
}
