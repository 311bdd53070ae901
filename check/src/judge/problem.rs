//! What is said about an argument, and where it stands.

use swc_core::common::Span;

/// Why an argument is refused.
#[derive(Debug)]
pub struct Problem {
    pub span: Span,
    pub message: String,
    /// What to write instead, and where.
    pub fix: Option<(Span, String)>,
    /// How far inside the arguments it is: the deepest explanation of a union is the best.
    pub(super) depth: usize,
}

/// Where in the arguments: `items[0].name`.
pub struct Path {
    pub text: String,
    pub depth: usize,
    /// The schema in question is one of several that together describe the value.
    pub composed: bool,
}

impl Path {
    pub fn root() -> Self {
        Self {
            text: String::new(),
            depth: 0,
            composed: false,
        }
    }

    /// The same place, of which a schema says only a part.
    pub fn composed(&self) -> Self {
        Self {
            text: self.text.clone(),
            depth: self.depth,
            composed: true,
        }
    }

    pub fn field(&self, name: &str) -> Self {
        let dot = if self.text.is_empty() { "" } else { "." };
        Self {
            text: format!("{}{dot}{name}", self.text),
            depth: self.depth + 1,
            composed: false,
        }
    }

    pub fn item(&self, index: usize) -> Self {
        Self {
            text: format!("{}[{index}]", self.text),
            depth: self.depth + 1,
            composed: false,
        }
    }

    pub fn problem(&self, span: Span, message: &str) -> Problem {
        let subject = match self.text.as_str() {
            "" => "the arguments".to_owned(),
            path => format!("`{path}`"),
        };
        Problem {
            span,
            message: format!("{subject} {message}"),
            fix: None,
            depth: self.depth,
        }
    }
}
