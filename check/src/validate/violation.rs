//! A violation of a schema, and where in the arguments it is.

use swc_core::common::Span;

/// Why an argument is invalid.
#[derive(Debug)]
pub struct Violation {
    pub span: Span,
    pub message: String,
    /// The replacement text, and the span that it replaces.
    pub fix: Option<(Span, String)>,
    /// The depth inside the arguments: the deepest explanation of a union is the best.
    pub(super) depth: usize,
}

/// A path in the arguments: `items[0].name`.
pub struct Path {
    pub text: String,
    pub depth: usize,
    /// The schema is one of several that describe the value together.
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

    /// The same path, under a schema that describes only a part of the value.
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

    pub fn violation(&self, span: Span, message: &str) -> Violation {
        let subject = match self.text.as_str() {
            "" => "the arguments".to_owned(),
            path => format!("`{path}`"),
        };
        Violation {
            span,
            message: format!("{subject} {message}"),
            fix: None,
            depth: self.depth,
        }
    }
}
