//! What speaks for a tool as the next one: numbers that a log-linear model weighs.

use crate::history::{END, History, Neighbour, START};
use crate::toolbox::Toolbox;
use crate::words::{SparseVector, terms};

/// Numbers per candidate; the names are those of [`FEATURE_NAMES`].
pub(crate) const FEATURES: usize = FEATURE_NAMES.len();

/// One candidate's numbers.
pub(crate) type Row = [f32; FEATURES];

/// What each number is.
pub(crate) const FEATURE_NAMES: [&str; 28] = [
    "trigram",
    "bigram",
    "popularity",
    "neighbours_next",
    "neighbours_next_share",
    "neighbours_bag",
    "neighbours_bag_share",
    "text_relative",
    "text",
    "rest_of_text",
    "intents_relative",
    "intents",
    "used",
    "last",
    "repeats",
    "link_last",
    "link_any",
    "same_server_last",
    "same_server_any",
    "unseen",
    "name_in_intent",
    "nearest_next",
    "end",
    "end_trigram",
    "end_neighbours",
    "end_rest",
    "end_steps",
    "end_first",
];

/// Past intents that are looked at.
const NEIGHBOURS: usize = 48;
/// Candidates beyond this number are chosen by what is known before any call.
const ALL_CANDIDATES: usize = 160;
/// The least share, so that its logarithm exists.
const FLOOR: f32 = 1e-3;

/// Everything about one intent that does not depend on the calls made so far.
pub(crate) struct IntentView<'a> {
    pub toolbox: &'a Toolbox,
    pub history: &'a History,
    pub neighbours: Vec<Neighbour>,
    /// Neighbours' weights, which sum up to one.
    weights: Vec<f32>,
    text: Vec<f32>,
    text_best: f32,
    intents: Vec<f32>,
    intents_best: f32,
    name_share: Vec<f32>,
    /// The rarity of every word of the intent, in its order, and the word.
    words: Vec<(Option<u32>, f32)>,
    /// Tools worth a look whatever was called.
    candidates: Vec<u32>,
}

impl<'a> IntentView<'a> {
    pub fn new(toolbox: &'a Toolbox, history: &'a History, intent: &str, sharpness: f32) -> Self {
        let vector = toolbox.vocabulary.vector(&[(1.0, intent)]);
        let neighbours = history.neighbours(&vector, NEIGHBOURS);
        let mut weights: Vec<f32> = neighbours
            .iter()
            .map(|neighbour| neighbour.cosine.powf(sharpness))
            .collect();
        let sum = weights.iter().sum::<f32>().max(1e-12);
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let text = toolbox.text_cosines(&vector);
        let intents = history.centroid_cosines(&vector);
        let best = |scores: &[f32]| scores.iter().copied().fold(0.0, f32::max);
        let words: Vec<(Option<u32>, f32)> = terms(intent)
            .iter()
            .map(|term| {
                let id = toolbox.vocabulary.id(term);
                let vocabulary = &toolbox.vocabulary;
                let rarity = id.map_or(vocabulary.unknown_rarity(), |id| vocabulary.rarity(id));
                (id, rarity)
            })
            .collect();
        let mut view = Self {
            text_best: best(&text),
            intents_best: best(&intents),
            name_share: Vec::new(),
            toolbox,
            history,
            neighbours,
            weights,
            text,
            intents,
            words,
            candidates: Vec::new(),
        };
        view.name_share = view.name_shares();
        view.candidates = view.static_candidates();
        view
    }

    /// How much of a tool's name the intent has.
    fn name_shares(&self) -> Vec<f32> {
        let mut present = vec![false; self.toolbox.vocabulary.len()];
        for (id, _) in &self.words {
            if let Some(id) = id {
                present[*id as usize] = true;
            }
        }
        (0..self.toolbox.len())
            .map(|tool| {
                let (mut all, mut found) = (0.0, 0.0);
                for id in self.toolbox.name_terms(tool as u32) {
                    let rarity = self.toolbox.vocabulary.rarity(*id);
                    all += rarity;
                    if present[*id as usize] {
                        found += rarity;
                    }
                }
                if all > 0.0 { found / all } else { 0.0 }
            })
            .collect()
    }

    fn static_candidates(&self) -> Vec<u32> {
        let count = self.toolbox.len();
        if count <= ALL_CANDIDATES {
            return (0..count as u32).collect();
        }
        let mut chosen = best_of(&self.text, 40);
        chosen.extend(best_of(&self.intents, 40));
        for neighbour in &self.neighbours {
            chosen.extend(&self.history.episodes[neighbour.episode as usize].tools);
        }
        chosen.extend(self.history.popular(10));
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// The cosine of the most similar past intent.
    pub fn nearest(&self) -> f32 {
        self.neighbours
            .first()
            .map_or(0.0, |neighbour| neighbour.cosine)
    }

    /// The neighbours with their weights.
    pub fn weighted(&self) -> impl Iterator<Item = (&Neighbour, f32)> {
        self.neighbours.iter().zip(self.weights.iter().copied())
    }

    /// How well a tool fits the intent, against the best one: by its text, by past intents, and how much
    /// of its name the intent has.
    pub fn fit(&self, tool: u32) -> [f32; 3] {
        let at = tool as usize;
        [
            self.text[at] / self.text_best.max(1e-6),
            self.intents[at] / self.intents_best.max(1e-6),
            self.name_share[at],
        ]
    }

    /// The share of the intent's words, by rarity, that the texts of `tools` have.
    pub fn covered(&self, tools: &[u32]) -> f32 {
        let (mut all, mut found) = (0.0, 0.0);
        for (id, rarity) in &self.words {
            all += rarity;
            let has = |tool: &u32| id.is_some_and(|id| self.toolbox.vector(*tool).has(id));
            if tools.iter().any(has) {
                found += rarity;
            }
        }
        if all > 0.0 { found / all } else { 0.0 }
    }

    /// The candidates behind the calls `context`, the end last, each with its numbers.
    pub fn rows(&self, context: &[u32]) -> Vec<(u32, Row)> {
        let step = StepView::new(self, context);
        let mut candidates = self.candidates.clone();
        if let Some(last) = context.last()
            && self.toolbox.len() > ALL_CANDIDATES
        {
            candidates.extend(
                self.history
                    .followers(*last, 24)
                    .iter()
                    .map(|(tool, _)| *tool),
            );
            candidates.extend(
                self.toolbox
                    .linked(*last)
                    .iter()
                    .map(|(tool, _)| *tool)
                    .take(24),
            );
            candidates.sort_unstable();
            candidates.dedup();
        }
        let mut rows: Vec<(u32, Row)> = candidates
            .into_iter()
            .map(|tool| (tool, step.row(tool)))
            .collect();
        rows.push((END, step.end_row()));
        rows
    }
}

/// The numbers of the `limit` greatest scores above zero.
fn best_of(scores: &[f32], limit: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..scores.len() as u32)
        .filter(|tool| scores[*tool as usize] > 0.0)
        .collect();
    let by_score = |a: &u32, b: &u32| {
        scores[*b as usize]
            .total_cmp(&scores[*a as usize])
            .then(a.cmp(b))
    };
    if order.len() > limit {
        order.select_nth_unstable_by(limit, by_score);
        order.truncate(limit);
    }
    order
}

/// What holds for all candidates of one step.
struct StepView<'a, 'b> {
    view: &'b IntentView<'a>,
    context: &'b [u32],
    last: u32,
    before_last: u32,
    /// Tool → share of the neighbours that have it next, or still to come; the end is last.
    next: Vec<f32>,
    bag: Vec<f32>,
    nearest: u32,
    rest: SparseVector,
    rest_share: f32,
}

impl<'a, 'b> StepView<'a, 'b> {
    fn new(view: &'b IntentView<'a>, context: &'b [u32]) -> Self {
        let count = view.toolbox.len();
        let back = |steps: usize| match context.len() {
            len if len >= steps => context[len - steps],
            _ => START,
        };
        let mut step = Self {
            view,
            context,
            last: back(1),
            before_last: back(2),
            next: vec![0.0; count + 1],
            bag: vec![0.0; count + 1],
            nearest: START,
            rest: SparseVector::default(),
            rest_share: 1.0,
        };
        step.ask_neighbours();
        step.read_rest();
        step
    }

    /// Where each neighbour would stand after the same calls, and what it did then.
    fn ask_neighbours(&mut self) {
        let count = self.view.toolbox.len();
        let mut total = 0.0;
        let mut bag_total = 0.0;
        let mut best = 0.0;
        for (neighbour, weight) in self.view.weighted() {
            let tools = &self.view.history.episodes[neighbour.episode as usize].tools;
            let (place, matched) = self.align(tools);
            let shared = self
                .context
                .iter()
                .filter(|tool| tools.contains(tool))
                .count();
            let overlap = (1.0 + shared as f32) / (1.0 + self.context.len() as f32);
            let trust = weight * overlap * overlap * [0.1, 1.0, 2.0, 3.0][matched];
            let next = tools.get(place).map_or(count, |tool| *tool as usize);
            self.next[next] += trust;
            total += trust;
            if trust > best {
                best = trust;
                self.nearest = tools.get(place).copied().unwrap_or(END);
            }
            let consistent = weight * overlap * overlap;
            bag_total += consistent;
            let mut left = 0.0_f32;
            for (at, tool) in tools.iter().enumerate() {
                let wanted = tools[..=at].iter().filter(|other| *other == tool).count();
                let had = self.context.iter().filter(|other| *other == tool).count();
                if wanted > had {
                    left += 1.0;
                    if wanted == had + 1 {
                        self.bag[*tool as usize] += consistent;
                    }
                }
            }
            self.bag[count] += consistent * left / tools.len().max(1) as f32;
        }
        self.next
            .iter_mut()
            .for_each(|share| *share /= total.max(1e-9));
        self.bag
            .iter_mut()
            .for_each(|share| *share /= bag_total.max(1e-9));
    }

    /// The place in a past run that fits the calls made so far best, and how many calls before it are
    /// equal (at most three; a run's start counts as one).
    fn align(&self, tools: &[u32]) -> (usize, usize) {
        let context = self.context;
        let mut best = (0_usize, 0_usize);
        let mut found = false;
        for place in 0..=tools.len() {
            let mut matched = 0;
            while matched < 3 {
                let equal = match (
                    context.len().checked_sub(matched + 1),
                    place.checked_sub(matched + 1),
                ) {
                    (Some(a), Some(b)) => context[a] == tools[b],
                    (None, None) => {
                        matched += 1;
                        break;
                    }
                    _ => false,
                };
                if !equal {
                    break;
                }
                matched += 1;
            }
            let closer = place.abs_diff(context.len()) < best.0.abs_diff(context.len());
            if matched > best.1 || (matched == best.1 && found && closer) {
                best = (place, matched);
                found = true;
            }
        }
        if !found {
            let unused = tools.iter().position(|tool| !context.contains(tool));
            return (unused.unwrap_or(tools.len()), 0);
        }
        (best.0, best.1.min(3))
    }

    /// The part of the intent that no call so far speaks of.
    fn read_rest(&mut self) {
        let words = &self.view.words;
        if self.context.is_empty() {
            return;
        }
        let mut covered = vec![false; words.len()];
        for tool in self.context {
            let vector = self.view.toolbox.vector(*tool);
            for (word, covered) in words.iter().zip(&mut covered) {
                *covered |= word.0.is_some_and(|id| vector.has(id));
            }
        }
        let all: f32 = words.iter().map(|(_, rarity)| rarity).sum();
        let mut left: Vec<(u32, f32)> = Vec::new();
        let (mut sum, mut unknown) = (0.0, 0.0);
        for ((id, rarity), covered) in words.iter().zip(&covered) {
            if *covered {
                continue;
            }
            sum += rarity;
            match id {
                Some(id) => left.push((*id, *rarity)),
                None => unknown += rarity * rarity,
            }
        }
        left.sort_unstable_by_key(|(id, _)| *id);
        left.dedup_by_key(|(id, _)| *id);
        let known = left.iter().map(|(_, x)| x * x).sum::<f32>();
        let length = (known + unknown).sqrt().max(1e-9);
        self.rest = SparseVector(left.into_iter().map(|(id, x)| (id, x / length)).collect());
        self.rest_share = if all > 0.0 { sum / all } else { 0.0 };
    }

    fn row(&self, tool: u32) -> Row {
        let (view, at) = (self.view, tool as usize);
        let history = view.history;
        let choices = view.toolbox.len() as f32 + 1.0;
        let used = self.context.iter().filter(|other| **other == tool).count() as f32;
        let rest = if self.context.is_empty() {
            view.text[at]
        } else {
            self.rest.cosine(view.toolbox.vector(tool))
        };
        let has_last = self.last != START;
        let link_last = if has_last {
            view.toolbox.link(self.last, tool)
        } else {
            0.0
        };
        let link_any = self
            .context
            .iter()
            .map(|from| view.toolbox.link(*from, tool))
            .fold(0.0, f32::max);
        let any_server = self
            .context
            .iter()
            .any(|other| view.toolbox.same_server(*other, tool));
        let nearness = view.nearest();
        [
            history
                .trigram((self.before_last, self.last), tool, choices)
                .ln(),
            history.bigram(self.last, tool, choices).ln(),
            history.popularity(tool, choices).ln(),
            (self.next[at] + FLOOR).ln(),
            self.next[at] * nearness,
            (self.bag[at] + FLOOR).ln(),
            self.bag[at] * nearness,
            view.text[at] / view.text_best.max(1e-6),
            view.text[at],
            rest,
            view.intents[at] / view.intents_best.max(1e-6),
            view.intents[at],
            used.min(1.0),
            flag(self.last == tool),
            if used > 0.0 {
                history.repeat_rate(tool).ln()
            } else {
                0.0
            },
            link_last,
            link_any,
            flag(has_last && view.toolbox.same_server(self.last, tool)),
            flag(any_server),
            flag(history.uses[at] == 0),
            view.name_share[at],
            flag(self.nearest == tool) * nearness,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ]
    }

    fn end_row(&self) -> Row {
        let history = self.view.history;
        let count = self.view.toolbox.len();
        let choices = count as f32 + 1.0;
        let mut row = [0.0; FEATURES];
        let own = [
            1.0,
            history
                .trigram((self.before_last, self.last), END, choices)
                .ln(),
            (self.next[count] + FLOOR).ln(),
            self.rest_share,
            (self.context.len() as f32 + 1.0).ln(),
            flag(self.context.is_empty()),
        ];
        row[FEATURES - own.len()..].copy_from_slice(&own);
        row[3] = (self.next[count] + FLOOR).ln();
        row[4] = self.next[count] * self.view.nearest();
        row[5] = (1.0 - self.bag[count]).max(FLOOR).ln();
        row[21] = flag(self.nearest == END) * self.view.nearest();
        row
    }
}

fn flag(value: bool) -> f32 {
    f32::from(u8::from(value))
}
