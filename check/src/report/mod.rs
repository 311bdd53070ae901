//! Report formats for programs.

mod github;
mod json;
mod sarif;

pub use github::github;
pub use json::json;
pub use sarif::sarif;

use crate::Finding;

/// The findings of one file.
#[derive(Debug)]
pub struct CheckedFile {
    /// The path as it was given.
    pub file: String,
    /// Its mistakes.
    pub findings: Vec<Finding>,
}
