//! Calls that are made before the script asks for them.
//!
//! [`Speculator`] starts the calls of a plan, each as a request of its own through the whole pipeline.
//! [`SpeculatedCalls`] holds them, and [`TakeSpeculated`] gives their results to the script's own calls.

mod calls;
mod evaluate;
mod speculator;
mod take;

pub use calls::SpeculatedCalls;
pub use speculator::Speculator;
pub(crate) use take::TakeSpeculated;
