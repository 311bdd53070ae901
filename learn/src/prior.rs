//! What holds for sets of tools in general: the middle of the prior of every fitted number.
//!
//! The bench fits these numbers on the training parts of its sets (`learn --fit-prior`). A model starts
//! from them and moves away as far as its own runs justify.

use crate::features::FEATURES;
use crate::plan::{EVIDENCE, PLAN_FEATURES};

/// The numbers that are fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Of the log-linear model of the next tool.
    pub(crate) next: [f64; FEATURES],
    /// Of the log-linear model of whole plans.
    pub(crate) plan: [f64; PLAN_FEATURES],
    /// Of the probability that the likeliest next tool is right: one, its logit.
    pub(crate) step: [f64; 2],
    /// Of the probability that a task of a plan is called.
    pub(crate) task: [f64; 2],
    /// Of the probability that a plan has exactly the right tools.
    pub(crate) exact: [f64; EVIDENCE],
    /// Of the probability that all of the surest tasks are called.
    pub(crate) ahead: [f64; EVIDENCE],
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            next: [
                0.4572, -0.0006, 0.1035, 0.1857, 2.0215, 0.1222, -0.1492, 1.1887, 0.2215, 5.7394,
                1.6340, -0.2664, 0.0179, 0.5925, 0.5365, 0.3365, 0.1142, 0.2336, -0.5285, 2.2292,
                1.3453, 0.3890, 1.4441, 0.9796, -0.3989, -1.6329, 0.9293, -0.9339,
            ],
            plan: [
                0.1823, 1.2259, -0.0444, 0.1580, 0.0290, 0.2361, -0.3564, -0.0105, -1.0350, 1.7096,
                1.5667, 0.8599, 4.8339, 0.3951,
            ],
            step: [-0.0395, 0.8400],
            task: [0.1630, 0.6659],
            exact: [-0.3973, 0.9585, 0.2959, 0.0721, -0.0977, -0.1521, 0.0291],
            ahead: [-0.2088, 0.7725, 0.0504, 0.1497, 1.1193, -0.1425, -0.1733],
        }
    }
}

impl Parameters {
    /// Plausible numbers, from which [`crate::evaluate::fit_prior`] starts.
    pub(crate) fn neutral() -> Self {
        let mut next = [0.0; FEATURES];
        next[0] = 0.3;
        next[3] = 0.3;
        next[5] = 0.3;
        next[7] = 2.0;
        next[10] = 1.0;
        let mut plan = [0.0; PLAN_FEATURES];
        plan[0] = 1.0;
        let mut evidence = [0.0; EVIDENCE];
        evidence[1] = 1.0;
        Self {
            next,
            plan,
            step: [0.0, 1.0],
            task: [0.0, 1.0],
            exact: evidence,
            ahead: evidence,
        }
    }

    /// The numbers as Rust.
    #[must_use]
    pub fn as_code(&self) -> String {
        let list = |name: &str, numbers: &[f64]| {
            let numbers: Vec<String> = numbers
                .iter()
                .map(|number| format!("{number:.4}"))
                .collect();
            format!("            {name}: [{}],\n", numbers.join(", "))
        };
        [
            list("next", &self.next),
            list("plan", &self.plan),
            list("step", &self.step),
            list("task", &self.task),
            list("exact", &self.exact),
            list("ahead", &self.ahead),
        ]
        .concat()
    }
}
