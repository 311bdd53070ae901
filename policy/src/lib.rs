//! What a run may use.
//!
//! [`lock`] is the lock file, `pml.lock`: the definitions of all tools as somebody has looked at them. A
//! tool whose definition is another one is not called until somebody accepts it.

pub mod lock;
