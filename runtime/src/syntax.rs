//! The syntax tree of a script, for those who judge it without running it.

use swc_core::common::SourceMap;
use swc_core::common::Span;
use swc_core::common::sync::Lrc;
use swc_core::ecma::ast::{Module, ModuleDecl, Str};

use crate::worker;
pub use crate::worker::{Rejection, RejectionKind};

/// Parses a script in any shape that a run accepts. Its spans point into `map`, at the lines the
/// author wrote.
pub fn parse(map: &Lrc<SourceMap>, name: &str, source: &str) -> Result<Module, Rejection> {
    worker::read(map, name, source)
}

/// The module that a declaration takes values from. Types are gone before a script runs.
pub fn source_of(declaration: &ModuleDecl) -> Option<(&Str, Span)> {
    worker::source_of(declaration)
}
