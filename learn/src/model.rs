//! A model of tool use: made from tools and past runs, it predicts the next tool and suggests plans.

use crate::arguments::ArgumentFunctions;
use crate::confidence::{Outcome, threshold};
use crate::features::IntentView;
use crate::history::{END, History};
use crate::plan::{candidates, decode};
use crate::prior::Parameters;
use crate::regression::{dot, logistic, softmax};
use crate::suggestion::{Plan, Task, Tier};
use crate::tool::{Episode, Tool};
use crate::toolbox::Toolbox;
use crate::training::{CrossValidation, Fit, SHARPNESS, logit};

/// The precision that suggestions of tier `act` have, at least.
pub const ACT_PRECISION: f64 = 0.95;
/// The precision that suggestions of tier `propose` have, at least.
pub const PROPOSE_PRECISION: f64 = 0.5;

/// A predicted next call.
#[derive(Debug, Clone, PartialEq)]
pub struct NextTool {
    pub tool: String,
    pub probability: f64,
}

/// The model.
pub struct Model {
    toolbox: Toolbox,
    history: History,
    fit: Fit,
    act: Option<f64>,
    arguments: ArgumentFunctions,
}

impl Model {
    /// Fits a model to past runs; without any, it knows what the tools say about themselves.
    #[must_use]
    pub fn new(tools: &[Tool], episodes: &[Episode], prior: &Parameters) -> Self {
        let toolbox = Toolbox::new(tools, episodes);
        let encoded: Vec<_> = episodes
            .iter()
            .map(|episode| toolbox.encode(episode))
            .collect();
        let fit = CrossValidation::new(&toolbox, episodes, &encoded).fit(prior);
        let history = History::new(&toolbox, encoded);
        Self {
            act: threshold(&fit.ahead, ACT_PRECISION),
            arguments: ArgumentFunctions::new(episodes),
            toolbox,
            history,
            fit,
        }
    }

    /// The likeliest next tools of a run that has made the calls `done`, best first.
    #[must_use]
    pub fn next(&self, intent: &str, done: &[&str], limit: usize) -> Vec<NextTool> {
        let view = IntentView::new(&self.toolbox, &self.history, intent, SHARPNESS);
        let done: Vec<u32> = done
            .iter()
            .filter_map(|tool| self.toolbox.number(tool))
            .collect();
        self.next_of(&view, &done, limit)
    }

    fn next_of(&self, view: &IntentView<'_>, done: &[u32], limit: usize) -> Vec<NextTool> {
        let mut candidates = view.rows(done);
        candidates.retain(|(tool, _)| *tool != END);
        let rows: Vec<_> = candidates.iter().map(|(_, row)| *row).collect();
        let shares = softmax(&self.fit.parameters.next, &rows);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by(|a, b| shares[*b].total_cmp(&shares[*a]).then(a.cmp(b)));
        let step = &self.fit.parameters.step;
        order
            .into_iter()
            .take(limit)
            .map(|at| NextTool {
                tool: self.toolbox.tools[candidates[at].0 as usize].id.clone(),
                probability: self.believable(logistic(dot(step, &[1.0, logit(shares[at])]))),
            })
            .collect()
    }

    /// The plan that fits an intent best; `None` if there is no tool.
    #[must_use]
    pub fn suggest(&self, intent: &str) -> Option<Plan> {
        let view = IntentView::new(&self.toolbox, &self.history, intent, SHARPNESS);
        let fitted = &self.fit.parameters;
        let decoded = decode(&view, &candidates(&view, &fitted.next), &fitted.plan)?;
        let mut ahead: &[usize] = &[];
        for subset in &decoded.subsets {
            let confidence = logistic(dot(&fitted.ahead, &subset.evidence));
            if self.act.is_none_or(|least| confidence < least) {
                break;
            }
            ahead = &subset.tasks;
        }
        let task = |(at, number): (usize, &u32)| {
            let tool = &self.toolbox.tools[*number as usize];
            let evidence = [1.0, logit(decoded.shares[at])];
            Task {
                tool: tool.id.clone(),
                read: tool.read,
                confidence: self.believable(logistic(dot(&fitted.task, &evidence))),
                ahead: tool.read && ahead.contains(&at),
                arguments: self
                    .arguments
                    .fill(&self.toolbox, &decoded.tools[..=at], intent),
            }
        };
        let tasks: Vec<Task> = decoded.tools.iter().enumerate().map(task).collect();
        let expected =
            tasks.iter().map(|task| task.confidence).sum::<f64>() / tasks.len().max(1) as f64;
        let tier = if tasks.iter().any(|task| task.ahead) {
            Tier::Act
        } else if expected >= PROPOSE_PRECISION {
            Tier::Propose
        } else {
            Tier::List
        };
        Some(Plan {
            tasks,
            edges: decoded.edges,
            confidence: self.believable(logistic(dot(&fitted.exact, &decoded.evidence))),
            tier,
        })
    }

    /// No more than what as many runs without a single miss would justify (Laplace's rule of succession).
    fn believable(&self, confidence: f64) -> f64 {
        let runs = self.history.episodes.len() as f64;
        confidence.min((runs + 1.0) / (runs + 2.0))
    }

    /// Where the arguments of tools come from.
    #[must_use]
    pub fn arguments(&self) -> &ArgumentFunctions {
        &self.arguments
    }

    /// The confidence from which on tasks run ahead; `None` if past runs justify none.
    #[must_use]
    pub fn act_threshold(&self) -> Option<f64> {
        self.act
    }

    /// The held-out predictions of single tasks.
    #[must_use]
    pub fn held_out_tasks(&self) -> &[Outcome] {
        &self.fit.tasks
    }

    /// The held-out predictions of plans by which the confidence was calibrated.
    #[must_use]
    pub fn held_out_plans(&self) -> &[Outcome] {
        &self.fit.exact
    }

    /// The held-out predictions of next tools.
    #[must_use]
    pub fn held_out_steps(&self) -> &[Outcome] {
        &self.fit.steps
    }
}
