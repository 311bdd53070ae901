//! Measures a model on sets of samples: what `bench --bin learn` prints.

mod metrics;
mod set;

pub use metrics::{Figures, evaluate};
pub use set::{SampleSet, SetError, fields};
