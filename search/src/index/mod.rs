//! The vectors of a configuration's tools on disk, in LanceDB, and how they come to be there.

mod build;
mod lock;
mod table;

pub use build::{Progress, build};
pub use lock::IndexLock;
pub use table::{IndexStats, VectorTable};
