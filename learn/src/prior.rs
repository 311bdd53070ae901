//! What holds for sets of tools in general: the middle of the prior of every fitted number.
//!
//! The bench fits these numbers on the training parts of its sets (`learn --fit-prior`). A model starts
//! from them and moves away as far as its own runs justify.

use crate::features::FEATURES;
use crate::plan::EVIDENCE;

/// The numbers that are fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Of the log-linear model of the next tool.
    pub(crate) next: [f64; FEATURES],
    /// Of the probability that the likeliest next tool is right: one, its logit.
    pub(crate) step: [f64; 2],
    /// Of the probability that a plan is right.
    pub(crate) plan: [f64; EVIDENCE],
}

impl Default for Parameters {
    fn default() -> Self {
        let mut next = [0.0; FEATURES];
        next[0] = 0.3;
        next[3] = 0.3;
        next[5] = 0.3;
        next[7] = 2.0;
        next[10] = 1.0;
        let mut plan = [0.0; EVIDENCE];
        plan[1] = 1.0;
        Self {
            next,
            step: [0.0, 1.0],
            plan,
        }
    }
}
