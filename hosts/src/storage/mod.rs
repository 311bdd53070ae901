//! What a session keeps from run to run: values that scripts store under a key, and results that
//! were too large to give back, under a handle.

mod spill;
mod values;

pub use values::Storage;
