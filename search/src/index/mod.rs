//! The vectors of a configuration's tools on disk, in LanceDB, and how they come to be there.

mod build;
mod lock;
mod table;

pub use build::{Built, Progress, build};
pub use lock::IndexLock;
pub use table::{IndexStats, Row, VectorTable};
