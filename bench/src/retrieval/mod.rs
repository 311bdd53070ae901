//! How well search finds tools: sets of tools and queries, and the figures they are judged by.

mod quality;
mod set;

pub use quality::Quality;
pub use set::{RetrievalSet, SetQuery};
