//! Measures a model on sets of samples: what `bench --bin learn` prints.

mod fit_prior;
mod metrics;
mod report;
mod set;

pub use fit_prior::fit_prior;
pub use metrics::{Figures, evaluate};
pub use report::{PriorChoice, prior_as_code, read_sets, report};
pub use set::{SampleSet, SetError, fields};
