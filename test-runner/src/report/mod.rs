//! Results in the words of whoever asked: a person, a CI job, another program.

mod json;
mod junit;
mod pretty;
mod tap;

use crate::results::{FileResult, Summary};

pub use pretty::{Colours, Pretty};

/// All results in one text; [`Pretty`] tells of each file as it ends instead.
pub fn junit(files: &[FileResult], summary: &Summary) -> String {
    junit::print(files, summary)
}

/// The Test Anything Protocol, version 14.
pub fn tap(files: &[FileResult]) -> String {
    tap::print(files)
}

pub fn json(files: &[FileResult], summary: &Summary) -> String {
    json::print(files, summary)
}
