//! The figures of one set.

use std::collections::HashMap;
use std::time::Instant;

use crate::confidence::{Outcome, calibration_error};
use crate::model::{Model, Plan, Tier};
use crate::prior::Parameters;
use crate::tool::Episode;
use crate::training::intent_hash;

use super::set::SampleSet;

/// The share of samples that a model learns from.
const TRAINING_SHARE: f64 = 0.7;

/// What was measured. A figure without a sample is `None`.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    pub name: String,
    pub tools: usize,
    pub training: usize,
    pub test: usize,
    pub node_f1: Option<f64>,
    pub edge_f1: Option<f64>,
    pub exact: Option<f64>,
    /// Tiers act, propose, list: how many suggestions, and how right they were. Of tier act, the share of
    /// suggestions whose tasks that run ahead were all called; of the others, the share of tasks that were.
    pub tiers: [(usize, Option<f64>); 3],
    /// The tasks that ran ahead, and the share that was called.
    pub ahead: (usize, Option<f64>),
    pub task_calibration: Option<f64>,
    pub plan_calibration: Option<f64>,
    pub step_calibration: Option<f64>,
    pub hit1: Option<f64>,
    pub hit3: Option<f64>,
    pub markov1: Option<f64>,
    pub markov3: Option<f64>,
    pub steps: usize,
    /// Median microseconds of a suggestion.
    pub micros: Option<f64>,
    pub fit_millis: f64,
}

/// Learns from 70 % of a set, by a hash of the intent, and measures the rest.
#[must_use]
pub fn evaluate(set: &SampleSet, prior: &Parameters) -> Figures {
    let (training, test) = split(set);
    let start = Instant::now();
    let model = Model::new(&set.tools, &training, prior);
    let mut figures = Figures {
        name: set.name.clone(),
        tools: set.tools.len(),
        training: training.len(),
        test: test.len(),
        fit_millis: start.elapsed().as_secs_f64() * 1e3,
        ..Figures::default()
    };
    plans(&model, &test, &mut figures);
    next_tools(&model, &training, &test, &mut figures);
    figures
}

/// The training part and the rest; samples without a call are left out.
#[must_use]
pub fn split(set: &SampleSet) -> (Vec<Episode>, Vec<Episode>) {
    set.samples
        .iter()
        .filter(|sample| !sample.steps.is_empty())
        .cloned()
        .partition(|sample| intent_hash(&sample.intent) < TRAINING_SHARE)
}

fn plans(model: &Model, test: &[Episode], figures: &mut Figures) {
    let (mut nodes, mut edges, mut exact, mut times) = (vec![], vec![], vec![], vec![]);
    let (mut plans, mut tasks, mut ahead) = (vec![], vec![], vec![]);
    let mut tiers = [(0, vec![]), (0, vec![]), (0, vec![])];
    for sample in test {
        let start = Instant::now();
        let plan = model.suggest(&sample.intent);
        times.push(start.elapsed().as_secs_f64() * 1e6);
        let Some(plan) = plan else { continue };
        let (wanted, wanted_edges) = names(sample);
        let (found, found_edges) = plan_names(&plan);
        let node_f1 = f1(&found, &wanted);
        let edge_f1 = f1(&found_edges, &wanted_edges);
        nodes.push(node_f1);
        edges.push(edge_f1);
        exact.push(share(node_f1 == 1.0 && edge_f1 == 1.0));
        plans.push(Outcome {
            confidence: plan.confidence,
            right: node_f1 == 1.0,
        });
        let called = called(&found, &wanted);
        let each = called.iter().zip(&plan.task_confidence);
        tasks.extend(each.map(|(right, confidence)| Outcome {
            confidence: *confidence,
            right: *right,
        }));
        let ran: Vec<bool> = plan.ahead.iter().map(|task| called[*task]).collect();
        ahead.extend(ran.iter().map(|right| share(*right)));
        let tier = &mut tiers[Tier::Act as usize - plan.tier as usize];
        tier.0 += 1;
        match plan.tier {
            Tier::Act => tier.1.push(share(ran.iter().all(|right| *right))),
            _ => tier.1.extend(called.iter().map(|right| share(*right))),
        }
    }
    figures.node_f1 = mean(&nodes);
    figures.edge_f1 = mean(&edges);
    figures.exact = mean(&exact);
    figures.tiers = tiers.map(|(count, rights)| (count, mean(&rights)));
    figures.ahead = (ahead.len(), mean(&ahead));
    figures.plan_calibration = calibration_error(&plans);
    figures.task_calibration = calibration_error(&tasks);
    times.sort_by(f64::total_cmp);
    figures.micros = times.get(times.len() / 2).copied();
}

fn share(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

/// For each suggested task, whether the run called it; the second one of a tool counts if the run called
/// the tool twice.
fn called(found: &[String], wanted: &[String]) -> Vec<bool> {
    let times =
        |names: &[String], name: &String| names.iter().filter(|other| *other == name).count();
    (0..found.len())
        .map(|at| times(&found[..=at], &found[at]) <= times(wanted, &found[at]))
        .collect()
}

fn names(sample: &Episode) -> (Vec<String>, Vec<String>) {
    let tool = |at: usize| sample.steps[at].tool.as_str();
    let tools = sample.steps.iter().map(|step| step.tool.clone()).collect();
    let edges = sample
        .edges
        .iter()
        .map(|(from, to)| format!("{}\n{}", tool(*from), tool(*to)));
    (tools, edges.collect())
}

fn plan_names(plan: &Plan) -> (Vec<String>, Vec<String>) {
    let edges = plan
        .edges
        .iter()
        .map(|(from, to)| format!("{}\n{}", plan.tools[*from], plan.tools[*to]));
    (plan.tools.clone(), edges.collect())
}

/// The F1 of two bags; two empty ones are equal.
fn f1(found: &[String], wanted: &[String]) -> f64 {
    if found.is_empty() && wanted.is_empty() {
        return 1.0;
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    for name in wanted {
        *left.entry(name).or_default() += 1;
    }
    let mut shared = 0;
    for name in found {
        if let Some(count) = left.get_mut(name.as_str())
            && *count > 0
        {
            *count -= 1;
            shared += 1;
        }
    }
    2.0 * f64::from(shared) / (found.len() + wanted.len()) as f64
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn next_tools(model: &Model, training: &[Episode], test: &[Episode], figures: &mut Figures) {
    let markov = Markov::new(training);
    let mut outcomes = Vec::new();
    let (mut hit3, mut markov1, mut markov3) = (vec![], vec![], vec![]);
    for sample in test {
        let done: Vec<&str> = sample.steps.iter().map(|step| step.tool.as_str()).collect();
        for (at, wanted) in done.iter().enumerate() {
            let found = model.next(&sample.intent, &done[..at], 3);
            let first = found.first();
            outcomes.push(Outcome {
                confidence: first.map_or(0.0, |next| next.probability),
                right: first.is_some_and(|next| next.tool == *wanted),
            });
            hit3.push(share(found.iter().any(|next| next.tool == *wanted)));
            let ranked = markov.next(at.checked_sub(1).map(|before| done[before]));
            markov1.push(share(ranked.first() == Some(wanted)));
            markov3.push(share(ranked.iter().take(3).any(|tool| tool == wanted)));
        }
    }
    figures.steps = outcomes.len();
    let hits: Vec<f64> = outcomes
        .iter()
        .map(|outcome| share(outcome.right))
        .collect();
    figures.hit1 = mean(&hits);
    figures.hit3 = mean(&hit3);
    figures.markov1 = mean(&markov1);
    figures.markov3 = mean(&markov3);
    figures.step_calibration = calibration_error(&outcomes);
}

/// The baseline: what most often came behind the last tool, then what is called most.
struct Markov<'a> {
    behind: HashMap<Option<&'a str>, Vec<&'a str>>,
    popular: Vec<&'a str>,
}

impl<'a> Markov<'a> {
    fn new(training: &'a [Episode]) -> Self {
        let mut behind: HashMap<Option<&str>, HashMap<&str, usize>> = HashMap::new();
        let mut popular: HashMap<&str, usize> = HashMap::new();
        for sample in training {
            let mut last = None;
            for step in &sample.steps {
                *behind
                    .entry(last)
                    .or_default()
                    .entry(&step.tool)
                    .or_default() += 1;
                *popular.entry(&step.tool).or_default() += 1;
                last = Some(step.tool.as_str());
            }
        }
        Self {
            behind: behind
                .into_iter()
                .map(|(last, counts)| (last, ranked(counts)))
                .collect(),
            popular: ranked(popular),
        }
    }

    fn next(&self, last: Option<&str>) -> Vec<&'a str> {
        let mut found = self.behind.get(&last).cloned().unwrap_or_default();
        let more: Vec<&str> = self
            .popular
            .iter()
            .copied()
            .filter(|tool| !found.contains(tool))
            .take(3)
            .collect();
        found.extend(more);
        found
    }
}

fn ranked(counts: HashMap<&str, usize>) -> Vec<&str> {
    let mut order: Vec<(&str, usize)> = counts.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    order.into_iter().map(|(tool, _)| tool).collect()
}
