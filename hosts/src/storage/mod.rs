//! What a session keeps from run to run: values that scripts store under a key, and results over
//! the output limit, under a handle.

mod spill;
mod values;

pub use values::{Provenance, SessionStorage, StorageError};
