//! References to inputs and outputs: `$OUTPUT[task].a[0]`, `$INPUT.x`, `$ITEM`.
//!
//! A reference is resolved on JSON values alone. There is no prototype: `$OUTPUT[t].constructor` is a
//! field of that name or nothing.

mod condition;
mod parse;
mod scope;
mod template;

pub use condition::{Condition, Operand};
pub use parse::Names;
pub use scope::{MissingPath, Scope};
pub use template::Template;

/// What a reference begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// `$INPUT`: what the caller passed.
    Input,
    /// `$OUTPUT[id]`: the output of a task or a race, by its place in the graph.
    Output(usize),
    /// `$ERROR[id]`: the failure of a task, or null.
    Error(usize),
    /// `$ITEM`: the item of `for_each`.
    Item,
    /// `$INDEX`: its index.
    Index,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// `.name` or `["name"]`
    Key(String),
    /// `[3]`
    Index(usize),
}

/// A reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// What it begins with.
    pub root: Root,
    /// The steps behind it.
    pub path: Vec<Segment>,
    /// How many steps may be missing: those before a `?`. The value is null then.
    pub optional: usize,
    /// As the plan has it.
    pub text: String,
}

impl Reference {
    /// The task or race that it refers to.
    pub fn node(&self) -> Option<usize> {
        match self.root {
            Root::Output(node) | Root::Error(node) => Some(node),
            Root::Input | Root::Item | Root::Index => None,
        }
    }

    /// Whether a node that was skipped stands for null: the reference ends with `?`.
    pub fn is_optional(&self) -> bool {
        self.text.trim_end_matches('}').ends_with('?') || matches!(self.root, Root::Error(_))
    }
}
