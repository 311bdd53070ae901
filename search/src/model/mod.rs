//! The model that turns text into vectors: which one, where its files are, and the thread that
//! owns it.

mod builtin;
mod checksum;
mod choice;
mod embedder;
mod fetch;
mod files;
mod library;

pub use choice::{BUILTIN, ListedModel, ModelChoice};
pub use embedder::Embedder;
pub use library::{Library, LibraryOrigin};
