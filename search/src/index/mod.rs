//! The vector index of a configuration's tools: a LanceDB table on disk.

mod build;
mod lock;
mod table;

pub use build::{IndexProgress, build};
pub use lock::IndexLock;
pub use table::{IndexStats, VectorTable};
