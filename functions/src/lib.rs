//! Functions of TypeScript files as tools: an entry of `mcpServers` with `functions`.
//!
//! [`FunctionSet`] reads the files and says which functions are tools. [`FunctionPools`] makes the sources
//! of entries for a gateway: each call is a child run in a sandbox, with a request pipeline of its own.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod files;
mod function_pools;
mod function_set;
mod function_source;

pub use function_pools::FunctionPools;
pub use function_set::{FunctionSet, ReadFunction, SkippedEntry};
