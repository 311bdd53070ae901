//! Findings for machines.

mod github;
mod json;
mod sarif;

pub use github::github;
pub use json::json;
pub use sarif::sarif;

use crate::Finding;

/// What was found in one file.
#[derive(Debug)]
pub struct Checked {
    /// The path as it was given.
    pub file: String,
    pub findings: Vec<Finding>,
}
