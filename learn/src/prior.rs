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
        Self::neutral()
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
