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
            next: [0.4565, -0.0034, 0.1176, 0.1872, 2.0001, 0.1170, -0.1029, 1.1651, 0.1878, 5.7493, 1.6724, -0.2680, 0.0227, 0.5976, 0.5374, 0.3370, 0.1269, 0.2313, -0.5276, 2.2496, 1.3254, 0.3774, 1.4239, 0.9793, -0.3961, -1.6336, 0.9388, -0.9346],
            plan: [0.2036, 1.2492, -0.0380, 0.1061, -0.0593, 0.2106, -0.2158, -0.2292, -1.0457, 1.5977, 1.4182, 0.8973, 4.7141, 0.3876],
            step: [-0.0250, 0.8951],
            task: [0.1462, 0.7153],
            exact: [-0.2002, 0.9954, 0.2523, 0.0769, -0.1906, -0.2466, -0.0159],
            ahead: [0.0578, 0.7271, 0.1487, 0.2172, 0.5713, -0.2401, -0.2039],
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
