//! How well search finds tools: sets of tools and queries, and the figures they are judged by.

mod lance;
mod quality;
mod set;

pub use lance::LanceIndex;
pub use quality::Quality;
pub use set::{RetrievalSet, SetQuery};
