//! The figures of one set.

use std::collections::HashMap;
use std::time::Instant;

use crate::confidence::{Outcome, calibration_error};
use crate::model::Model;
use crate::prior::Parameters;
use crate::suggestion::{Plan, Tier};
use crate::tool::Episode;
use crate::training::intent_hash;

use super::set::SampleSet;

/// The share of samples that a model learns from.
const TRAINING_SHARE: f64 = 0.7;
/// A set with fewer samples is split several times.
const ENOUGH_SAMPLES: usize = 2000;
const MAX_SPLITS: usize = 10;

/// What was measured. A figure without a sample is `None`.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    pub name: String,
    pub tools: usize,
    pub samples: usize,
    pub splits: usize,
    pub suggestions: usize,
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
///
/// A small set says little in one split: it is split several times, with another hash each time, and all
/// predictions are measured together.
#[must_use]
pub fn evaluate(set: &SampleSet, prior: &Parameters) -> Figures {
    let samples = set
        .samples
        .iter()
        .filter(|sample| !sample.steps.is_empty())
        .count();
    let splits = (ENOUGH_SAMPLES / samples.max(1)).clamp(1, MAX_SPLITS);
    let mut figures = Figures {
        name: set.name.clone(),
        tools: set.tools.len(),
        samples,
        splits,
        ..Figures::default()
    };
    let mut seen = Observed::default();
    for salt in 0..splits {
        let (training, test) = split(set, salt);
        let start = Instant::now();
        let model = Model::new(&set.tools, &training, prior);
        if salt == 0 {
            figures.fit_millis = start.elapsed().as_secs_f64() * 1e3;
        }
        seen.plans(&model, &test);
        seen.next_tools(&model, &training, &test);
    }
    seen.summarise(&mut figures);
    figures
}

/// The training part and the rest; samples without a call are left out.
#[must_use]
pub fn split(set: &SampleSet, salt: usize) -> (Vec<Episode>, Vec<Episode>) {
    let hash = |intent: &str| match salt {
        0 => intent_hash(intent),
        salt => intent_hash(&format!("{salt} {intent}")),
    };
    set.samples
        .iter()
        .filter(|sample| !sample.steps.is_empty())
        .cloned()
        .partition(|sample| hash(&sample.intent) < TRAINING_SHARE)
}

/// What came of the predictions of all splits.
#[derive(Default)]
struct Observed {
    nodes: Vec<f64>,
    edges: Vec<f64>,
    exact: Vec<f64>,
    times: Vec<f64>,
    plans: Vec<Outcome>,
    tasks: Vec<Outcome>,
    ahead: Vec<f64>,
    tiers: [(usize, Vec<f64>); 3],
    steps: Vec<Outcome>,
    hit3: Vec<f64>,
    markov1: Vec<f64>,
    markov3: Vec<f64>,
}

impl Observed {
    fn plans(&mut self, model: &Model, test: &[Episode]) {
        for sample in test {
            let start = Instant::now();
            let plan = model.suggest(&sample.intent);
            self.times.push(start.elapsed().as_secs_f64() * 1e6);
            if let Some(plan) = plan {
                self.plan(&plan, sample);
            }
        }
    }

    fn plan(&mut self, plan: &Plan, sample: &Episode) {
        let (wanted, wanted_edges) = names(sample);
        let (found, found_edges) = plan_names(plan);
        let node_f1 = f1(&found, &wanted);
        let edge_f1 = f1(&found_edges, &wanted_edges);
        self.nodes.push(node_f1);
        self.edges.push(edge_f1);
        self.exact.push(share(node_f1 == 1.0 && edge_f1 == 1.0));
        self.plans.push(Outcome {
            confidence: plan.confidence,
            right: node_f1 == 1.0,
        });
        let called = called(&found, &wanted);
        let each = || called.iter().zip(&plan.tasks);
        self.tasks.extend(each().map(|(right, task)| Outcome {
            confidence: task.confidence,
            right: *right,
        }));
        let ran: Vec<bool> = each()
            .filter(|(_, task)| task.ahead)
            .map(|(right, _)| *right)
            .collect();
        self.ahead.extend(ran.iter().map(|right| share(*right)));
        let tier = &mut self.tiers[Tier::Act as usize - plan.tier as usize];
        tier.0 += 1;
        match plan.tier {
            Tier::Act => tier.1.push(share(ran.iter().all(|right| *right))),
            _ => tier.1.extend(called.iter().map(|right| share(*right))),
        }
    }

    fn next_tools(&mut self, model: &Model, training: &[Episode], test: &[Episode]) {
        let markov = Markov::new(training);
        for sample in test {
            let done: Vec<&str> = sample.steps.iter().map(|step| step.tool.as_str()).collect();
            for (at, wanted) in done.iter().enumerate() {
                let found = model.next(&sample.intent, &done[..at], 3);
                let first = found.first();
                self.steps.push(Outcome {
                    confidence: first.map_or(0.0, |next| next.probability),
                    right: first.is_some_and(|next| next.tool == *wanted),
                });
                self.hit3
                    .push(share(found.iter().any(|next| next.tool == *wanted)));
                let ranked = markov.next(at.checked_sub(1).map(|before| done[before]));
                self.markov1.push(share(ranked.first() == Some(wanted)));
                self.markov3
                    .push(share(ranked.iter().take(3).any(|tool| tool == wanted)));
            }
        }
    }

    fn summarise(mut self, figures: &mut Figures) {
        figures.suggestions = self.nodes.len();
        figures.node_f1 = mean(&self.nodes);
        figures.edge_f1 = mean(&self.edges);
        figures.exact = mean(&self.exact);
        figures.tiers = self.tiers.map(|(count, rights)| (count, mean(&rights)));
        figures.ahead = (self.ahead.len(), mean(&self.ahead));
        figures.plan_calibration = calibration_error(&self.plans);
        figures.task_calibration = calibration_error(&self.tasks);
        figures.step_calibration = calibration_error(&self.steps);
        self.times.sort_by(f64::total_cmp);
        figures.micros = self.times.get(self.times.len() / 2).copied();
        figures.steps = self.steps.len();
        let hits: Vec<f64> = self
            .steps
            .iter()
            .map(|outcome| share(outcome.right))
            .collect();
        figures.hit1 = mean(&hits);
        figures.hit3 = mean(&self.hit3);
        figures.markov1 = mean(&self.markov1);
        figures.markov3 = mean(&self.markov3);
    }
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
    let tool = |at: usize| plan.tasks[at].tool.as_str();
    let edges = plan
        .edges
        .iter()
        .map(|(from, to)| format!("{}\n{}", tool(*from), tool(*to)));
    (
        plan.tasks.iter().map(|task| task.tool.clone()).collect(),
        edges.collect(),
    )
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
