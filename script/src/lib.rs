//! Scripts as text: TypeScript to JavaScript ([`transpile()`]), which expression is the result
//! ([`result_of`]), code frames ([`code_frame`]), hints for habits of other languages ([`habits`]),
//! functions as tools ([`functions`]), and the names of the script API ([`api`]).
//!
//! The crate depends on swc and on nothing of V8, so `pml check` and the worker share it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod api;
pub mod code_frame;
pub mod functions;
mod goal;
pub mod habits;
mod imports;
mod names;
pub mod nesting;
mod parse;
mod prefetch;
mod rejection;
mod result;
mod returns;
mod transpile;
mod unfence;
mod values;
mod wrap;

pub use goal::Goal;
pub use imports::{API_SPECIFIER, TEST_API_SPECIFIER, import_refusal, is_relative, source_of};
pub use rejection::{Rejection, RejectionKind};
pub use result::{ScriptResult, result_of};
pub use returns::returns_as_throws;
pub use transpile::{
    Form, SourceMapping, Translation, parse_script, transpile, transpile_and_prefetch, transpile_as,
};

#[cfg(test)]
mod tests;
