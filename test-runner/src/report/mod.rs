//! Reports: [`Pretty`] for a terminal, JUnit XML and TAP for CI jobs, JSON for programs.

mod json;
mod junit;
mod pretty;
mod tap;

use crate::results::{FileResult, Summary};

pub use pretty::{Colours, Pretty};

/// JUnit XML.
pub fn junit(files: &[FileResult], summary: &Summary) -> String {
    junit::print(files, summary)
}

/// The Test Anything Protocol, version 14.
pub fn tap(files: &[FileResult]) -> String {
    tap::print(files)
}

/// One JSON document with the summary and every [`FileResult`].
pub fn json(files: &[FileResult], summary: &Summary) -> String {
    json::print(files, summary)
}
