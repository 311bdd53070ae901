//! What is known of a tool and of past runs: the input of everything in this crate.

use serde::{Deserialize, Serialize};

/// A tool as its server describes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// `server:tool`
    pub id: String,
    pub server: String,
    pub name: String,
    pub description: String,
    pub inputs: Vec<Field>,
    /// The fields of its result, from its schema or from observed results.
    pub outputs: Vec<Field>,
    /// Whether a call has no effect (class `read`).
    pub read: bool,
}

/// A field of an input or of a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// `files[*].path`
    pub path: String,
    /// `string`, `number`, …; empty if not known.
    pub kind: String,
    pub required: bool,
    pub description: String,
}

impl Field {
    /// The last name of the path, without indices: `path` of `files[*].path`.
    #[must_use]
    pub fn name(&self) -> &str {
        let last = self.path.rsplit('.').next().unwrap_or(&self.path);
        last.split('[').next().unwrap_or(last)
    }
}

/// One past run: what was wanted, and the calls that did it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    pub intent: String,
    /// The calls in their order.
    pub steps: Vec<Step>,
    /// Which call needs which: places in `steps`, the earlier first.
    pub edges: Vec<(usize, usize)>,
}

/// A call of a past run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub tool: String,
    pub arguments: Vec<Argument>,
}

/// Where the value of one argument came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// The path of the argument: `path`, `filter.owner`.
    pub path: String,
    pub source: Source,
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Part of the result of an earlier step.
    Result { step: usize, path: String },
    /// The value stands in the intent.
    Intent,
    /// A value that is not private and that runs repeat, as JSON text.
    Constant(String),
    /// Any other value; private values are always this.
    Other,
}
