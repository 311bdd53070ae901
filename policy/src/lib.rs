//! What a run may use.
//!
//! [`authorize`] is the decision function: who may do what with which tool, from Cedar policies.
//! [`labels`] says what a run has read, and where that may go. [`lock`] is the lock file, `pml.lock`: the
//! definitions of all tools as somebody has looked at them. A tool whose definition is another one is not
//! called until somebody accepts it. [`suspensions`] are tools and principals that are withdrawn until a
//! person has looked at them.

pub mod authorize;
pub mod labels;
pub mod lock;
pub mod suspensions;
pub mod tool_glob;
