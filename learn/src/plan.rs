//! From an intent to the most useful plan: whole plans are collected and weighed, and the one that is
//! expected to have most in common with what will happen is chosen.

use crate::features::{FEATURES, IntentView};
use crate::regression::softmax;
use crate::sequences::{log_probability, search};
use crate::training::logit;

/// Runs with similar intents whose plans are candidates.
const NEIGHBOUR_PLANS: usize = 12;
/// What an edge between neighbours is worth without past runs, and one between others.
const COLD_EDGES: (f32, f32) = (0.5, 0.05);
/// The share of pairs from which on an edge is suggested.
const EDGE_THRESHOLD: f32 = 0.5;

/// Numbers that speak for a whole plan.
pub(crate) const PLAN_FEATURES: usize = PLAN_FEATURE_NAMES.len();
pub(crate) const PLAN_FEATURE_NAMES: [&str; 14] = [
    "sequence",
    "sequence_per_step",
    "length",
    "nearest_with_it",
    "neighbours_with_it",
    "is_of_nearest",
    "text_best",
    "text_mean",
    "intents_best",
    "intents_mean",
    "name_best",
    "rarest_text",
    "covered",
    "seen",
];

/// A plan that may be the right one.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub tools: Vec<u32>,
    pub bag: Vec<u32>,
    pub row: [f32; PLAN_FEATURES],
}

/// A chosen plan and what speaks for it.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    pub tools: Vec<u32>,
    pub edges: Vec<(usize, usize)>,
    pub evidence: Evidence,
    /// The share of the candidates' probability that has a task, by task.
    pub shares: Vec<f64>,
    /// Which tasks a set of the surest tasks is, and how much probability has all of them: the surest one,
    /// the two surest, …
    pub subsets: Vec<Subset>,
}

/// The surest tasks of a plan.
#[derive(Debug, Clone)]
pub(crate) struct Subset {
    /// Places in the plan.
    pub tasks: Vec<usize>,
    pub evidence: Evidence,
}

/// What speaks for a plan or a part of one: one, then its logit, …
pub(crate) type Evidence = [f32; EVIDENCE];
pub(crate) const EVIDENCE: usize = 7;

/// The plans worth a look, each once, whatever its order.
pub(crate) fn candidates(view: &IntentView<'_>, weights: &[f64; FEATURES]) -> Vec<Candidate> {
    let mut found: Vec<(Vec<u32>, Vec<u32>, f64)> = Vec::new();
    let mut add = |tools: &[u32], log: f64| {
        let bag = sorted(tools);
        match found.iter_mut().find(|(_, other, _)| *other == bag) {
            Some((order, _, sum)) if order.as_slice() != tools => {
                *sum = sum.max(log) + (sum.min(log) - sum.max(log)).exp().ln_1p();
            }
            Some(_) => {}
            None => found.push((tools.to_vec(), bag, log)),
        }
    };
    for sequence in search(view, weights) {
        add(&sequence.tools, sequence.log_probability);
    }
    let mut seen: Vec<&[u32]> = Vec::new();
    for neighbour in &view.neighbours {
        let tools = view.history.episodes[neighbour.episode as usize]
            .tools
            .as_slice();
        if !tools.is_empty() && !seen.contains(&tools) {
            seen.push(tools);
            add(tools, log_probability(view, weights, tools));
            if seen.len() == NEIGHBOUR_PLANS {
                break;
            }
        }
    }
    found
        .into_iter()
        .map(|(tools, bag, log)| candidate(view, tools, bag, log))
        .collect()
}

fn candidate(view: &IntentView<'_>, tools: Vec<u32>, bag: Vec<u32>, log: f64) -> Candidate {
    let tools = in_order_of_data(view, tools);
    let (mut nearest, mut share, mut is_nearest) = (0.0_f32, 0.0, false);
    for (at, (neighbour, weight)) in view.weighted().enumerate() {
        if sorted(&view.history.episodes[neighbour.episode as usize].tools) == bag {
            nearest = nearest.max(neighbour.cosine);
            share += weight;
            is_nearest |= at == 0;
        }
    }
    let fits: Vec<[f32; 3]> = tools.iter().map(|tool| view.fit(*tool)).collect();
    let best = |at: usize| fits.iter().map(|fit| fit[at]).fold(0.0, f32::max);
    let mean = |at: usize| fits.iter().map(|fit| fit[at]).sum::<f32>() / fits.len().max(1) as f32;
    let rarest = tools
        .iter()
        .min_by_key(|tool| view.history.uses[**tool as usize]);
    let row = [
        log as f32,
        (log / (tools.len() + 1) as f64) as f32,
        (tools.len() as f32).ln(),
        nearest,
        share,
        f32::from(u8::from(is_nearest)),
        best(0),
        mean(0),
        best(1),
        mean(1),
        best(2),
        rarest.map_or(0.0, |tool| view.fit(*tool)[0]),
        view.covered(&tools),
        (view.history.bag_count(&bag) as f32).ln_1p(),
    ];
    Candidate { tools, bag, row }
}

/// How well a result must fit an input to come before it.
const ORDERING_LINK: f32 = 0.5;

/// The tools so that one that feeds another comes first, where no past run says anything of their order.
fn in_order_of_data(view: &IntentView<'_>, mut tools: Vec<u32>) -> Vec<u32> {
    let unknown = |a: u32, b: u32| {
        let seen =
            |direct| view.history.pair(a, b, direct).pairs + view.history.pair(b, a, direct).pairs;
        seen(true) + seen(false) == 0.0
    };
    let feeds = |a: u32, b: u32| {
        let link = view.toolbox.link(a, b);
        link >= ORDERING_LINK && link > view.toolbox.link(b, a) && unknown(a, b)
    };
    for at in 1..tools.len() {
        let taker = (0..at).find(|earlier| feeds(tools[at], tools[*earlier]));
        if let Some(taker) = taker {
            tools[taker..=at].rotate_right(1);
        }
    }
    tools
}

/// The plan with the greatest expected overlap; none if there is no tool.
pub(crate) fn decode(
    view: &IntentView<'_>,
    candidates: &[Candidate],
    weights: &[f64; PLAN_FEATURES],
) -> Option<Decoded> {
    let rows: Vec<_> = candidates.iter().map(|candidate| candidate.row).collect();
    let shares = softmax(weights, &rows);
    let expected = |plan: &Candidate| -> f64 {
        let overlaps = candidates
            .iter()
            .map(|other| overlap(&plan.bag, &other.bag));
        overlaps
            .zip(&shares)
            .map(|(overlap, share)| overlap * share)
            .sum()
    };
    let mut best: Option<(f64, usize)> = None;
    for (at, candidate) in candidates.iter().enumerate() {
        let value = expected(candidate);
        if best.is_none_or(|(least, _)| value > least + 1e-12) {
            best = Some((value, at));
        }
    }
    let (value, at) = best?;
    let chosen = &candidates[at];
    let strongest = shares.iter().copied().fold(0.0, f64::max);
    let general = |joint: f64, length: usize| -> Evidence {
        [
            1.0,
            logit(joint),
            logit(value),
            logit(strongest),
            view.nearest(),
            chosen.row[4],
            (length as f32).ln(),
        ]
    };
    let sets = nested_tasks(candidates, &shares, &chosen.tools);
    let task_shares = (0..chosen.tools.len())
        .map(|task| has_all(candidates, &shares, &chosen.tools, &[task]))
        .collect();
    let subsets = sets
        .into_iter()
        .map(|tasks| {
            let joint = has_all(candidates, &shares, &chosen.tools, &tasks);
            Subset {
                evidence: general(joint, tasks.len()),
                tasks,
            }
        })
        .collect();
    Some(Decoded {
        edges: edges(view, &chosen.tools),
        tools: chosen.tools.clone(),
        evidence: general(shares[at], chosen.tools.len()),
        shares: task_shares,
        subsets,
    })
}

/// The surest task, the two surest together, …: each set adds the task that costs least probability.
fn nested_tasks(candidates: &[Candidate], shares: &[f64], tools: &[u32]) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < tools.len() {
        let joint = |task: usize| {
            let mut tasks = chosen.clone();
            tasks.push(task);
            has_all(candidates, shares, tools, &tasks)
        };
        let next = (0..tools.len())
            .filter(|task| !chosen.contains(task))
            .map(|task| (joint(task), task))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some((_, task)) = next else { break };
        chosen.push(task);
        sets.push(chosen.clone());
    }
    sets
}

/// The probability of the candidates that have all of these tasks.
fn has_all(candidates: &[Candidate], shares: &[f64], tools: &[u32], tasks: &[usize]) -> f64 {
    let wanted = sorted(&tasks.iter().map(|task| tools[*task]).collect::<Vec<_>>());
    let has = |candidate: &&Candidate| contains(&candidate.bag, &wanted);
    let all = candidates
        .iter()
        .zip(shares)
        .filter(|(candidate, _)| has(candidate));
    all.map(|(_, share)| share).sum()
}

pub(crate) fn sorted(tools: &[u32]) -> Vec<u32> {
    let mut sorted = tools.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Whether a sorted bag has everything of another.
pub(crate) fn contains(bag: &[u32], wanted: &[u32]) -> bool {
    let mut rest = bag.iter();
    wanted.iter().all(|tool| rest.any(|other| other == tool))
}

/// The F1 of two sorted bags.
pub(crate) fn overlap(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    2.0 * f64::from(shared) / (a.len() + b.len()).max(1) as f64
}

/// Which calls of a plan need which, as past runs had it and the schemas allow.
fn edges(view: &IntentView<'_>, tools: &[u32]) -> Vec<(usize, usize)> {
    let history = view.history;
    let mut edges = Vec::new();
    for later in 0..tools.len() {
        for earlier in 0..later {
            let direct = later == earlier + 1;
            let (shape, cold) = if direct {
                (history.adjacent, COLD_EDGES.0)
            } else {
                (history.distant, COLD_EDGES.1)
            };
            let link = view.toolbox.link(tools[earlier], tools[later]);
            let general = (shape.edges + 4.0 * cold.max(link)) / (shape.pairs + 4.0);
            let pair = history.pair(tools[earlier], tools[later], direct);
            if (pair.edges + 2.0 * general) / (pair.pairs + 2.0) >= EDGE_THRESHOLD {
                edges.push((earlier, later));
            }
        }
    }
    edges
}
