//! TypeScript for tools: from the JSON Schemas of their servers to types that people and models
//! read.
//!
//! [`signature`] is one line for a model, [`declarations`] a whole `.d.ts` file for an editor and
//! for `tsc`. Both come from the same reading of a schema, which takes whatever a server sends:
//! the result is always valid TypeScript, and its size is bounded.

mod declarations;
mod model;
mod observed;
mod print;
mod read;
mod signature;
mod tool;

pub use declarations::declarations;
pub use observed::Shape;
pub use read::resolve;
pub use signature::{one_line, signature};
pub use tool::ToolTypes;
