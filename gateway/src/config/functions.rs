//! The keys of an entry whose tools are functions.

use std::path::PathBuf;

use pml_units::{ByteSize, HumanDuration};
use serde::Deserialize;

/// Functions of TypeScript files as tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Functions {
    /// The files, as patterns with `*`, `**` and `?`, relative to the folder.
    pub files: Vec<String>,
    /// The folder of the configuration file, as an absolute path.
    pub folder: PathBuf,
    /// How much one call may use.
    pub limits: FunctionLimits,
}

/// Limits of one call of a function. They lower those of the run that calls it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FunctionLimits {
    /// V8's heap.
    pub memory: Option<ByteSize>,
    /// CPU time.
    pub cpu: Option<HumanDuration>,
    /// Calls that the function makes itself.
    pub calls: Option<u32>,
}

/// One pattern, or a list of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a pattern of files such as \"tools/*.ts\", or a list of them"
)]
pub(super) enum Patterns {
    One(String),
    Several(Vec<String>),
}

impl Patterns {
    pub fn into_list(self) -> Vec<String> {
        match self {
            Self::One(pattern) => vec![pattern],
            Self::Several(patterns) => patterns,
        }
    }
}
