//! Retrieval quality: sets of tools and queries, and metrics.

mod lance_index;
mod quality;
mod retrieval_set;

pub use lance_index::LanceIndex;
pub use quality::Quality;
pub use retrieval_set::{RetrievalSet, SetQuery};
