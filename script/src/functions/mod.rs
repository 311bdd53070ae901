//! Functions of a file as tools: which ones it exports, and the JSON Schemas of their parameters and
//! results.

mod built_in;
mod constraints;
mod declarations;
mod doc;
mod literals;
mod members;
mod named;
mod parameters;
mod read;
mod typed;
mod types;
mod unions;

#[cfg(test)]
mod tests;

pub use read::{FunctionFile, FunctionTool, SkippedFunction, read_functions};
