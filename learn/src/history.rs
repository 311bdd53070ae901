//! Statistics of past runs: n-grams of tools, what intents of a tool look like, similar past intents.

use std::collections::HashMap;

use crate::toolbox::{EncodedEpisode, Toolbox};
use crate::words::{Postings, SparseVector};

/// The place before the first call.
pub(crate) const START: u32 = u32::MAX - 1;
/// The place after the last call.
pub(crate) const END: u32 = u32::MAX;

/// What follows one context, and how often.
#[derive(Debug, Clone, Default)]
struct Followers {
    total: f32,
    counts: Vec<(u32, f32)>,
}

impl Followers {
    fn add(&mut self, next: u32) {
        self.total += 1.0;
        match self.counts.binary_search_by_key(&next, |(tool, _)| *tool) {
            Ok(place) => self.counts[place].1 += 1.0,
            Err(place) => self.counts.insert(place, (next, 1.0)),
        }
    }

    fn count(&self, next: u32) -> f32 {
        self.counts
            .binary_search_by_key(&next, |(tool, _)| *tool)
            .map_or(0.0, |place| self.counts[place].1)
    }
}

/// A past intent that is similar to the one at hand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neighbour {
    pub episode: u32,
    pub cosine: f32,
}

/// Statistics of a set of episodes.
#[derive(Debug, Clone)]
pub(crate) struct History {
    pub episodes: Vec<EncodedEpisode>,
    intents: Postings,
    /// Term → tools whose past intents have it.
    centroids: Postings,
    /// Episodes that use a tool, by tool.
    pub uses: Vec<u32>,
    repeats: Vec<u32>,
    unigrams: Followers,
    bigrams: HashMap<u32, Followers>,
    trigrams: HashMap<(u32, u32), Followers>,
    /// How often an edge joins two tools of one run, and how often they are in that order.
    pairs: HashMap<(u32, u32, bool), PairCount>,
    /// How often an edge joins direct successors, and other pairs, whatever the tools are.
    pub adjacent: PairCount,
    pub distant: PairCount,
    pub longest: usize,
    /// How often exactly these tools were one run.
    bags: HashMap<Vec<u32>, u32>,
}

/// How many pairs of calls there were, and how many of them an edge joins.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PairCount {
    pub pairs: f32,
    pub edges: f32,
}

impl PairCount {
    fn add(&mut self, edge: bool) {
        self.pairs += 1.0;
        self.edges += f32::from(u8::from(edge));
    }
}

impl History {
    pub fn new(toolbox: &Toolbox, episodes: Vec<EncodedEpisode>) -> Self {
        let tools = toolbox.len();
        let mut sums: Vec<HashMap<u32, f32>> = vec![HashMap::new(); tools];
        let mut history = Self {
            intents: Postings::new(
                toolbox.vocabulary.len(),
                episodes.iter().map(|episode| &episode.vector),
            ),
            centroids: Postings::default(),
            uses: vec![0; tools],
            repeats: vec![0; tools],
            unigrams: Followers::default(),
            bigrams: HashMap::new(),
            trigrams: HashMap::new(),
            pairs: HashMap::new(),
            adjacent: PairCount::default(),
            distant: PairCount::default(),
            longest: 0,
            bags: HashMap::new(),
            episodes: Vec::new(),
        };
        for episode in &episodes {
            history.count(episode);
            let mut used = episode.tools.clone();
            used.sort_unstable();
            *history.bags.entry(used.clone()).or_default() += 1;
            used.dedup();
            for tool in used {
                for (term, weight) in &episode.vector.0 {
                    *sums[tool as usize].entry(*term).or_default() += weight;
                }
            }
        }
        let centroids: Vec<SparseVector> = sums
            .into_iter()
            .map(|sum| {
                let mut terms: Vec<(u32, f32)> = sum.into_iter().collect();
                terms.sort_unstable_by_key(|(term, _)| *term);
                let length = terms
                    .iter()
                    .map(|(_, x)| x * x)
                    .sum::<f32>()
                    .sqrt()
                    .max(1e-9);
                SparseVector(
                    terms
                        .into_iter()
                        .map(|(term, x)| (term, x / length))
                        .collect(),
                )
            })
            .collect();
        history.centroids = Postings::new(toolbox.vocabulary.len(), centroids.iter());
        history.episodes = episodes;
        history
    }

    fn count(&mut self, episode: &EncodedEpisode) {
        let tools = &episode.tools;
        self.longest = self.longest.max(tools.len());
        let at = |place: usize| if place == 0 { START } else { tools[place - 1] };
        for place in 0..=tools.len() {
            let next = tools.get(place).copied().unwrap_or(END);
            self.unigrams.add(next);
            self.bigrams.entry(at(place)).or_default().add(next);
            if place > 0 {
                self.trigrams
                    .entry((at(place - 1), at(place)))
                    .or_default()
                    .add(next);
            }
            if place < tools.len() {
                let repeated = tools[..place].contains(&next);
                let counts = if repeated {
                    &mut self.repeats
                } else {
                    &mut self.uses
                };
                counts[next as usize] += 1;
            }
        }
        for later in 0..tools.len() {
            for earlier in 0..later {
                let edge = episode.edges.contains(&(earlier, later));
                let direct = later == earlier + 1;
                let pair = (tools[earlier], tools[later], direct);
                self.pairs.entry(pair).or_default().add(edge);
                if direct {
                    &mut self.adjacent
                } else {
                    &mut self.distant
                }
                .add(edge);
            }
        }
    }

    /// The past intents that are most like this one, best first.
    pub fn neighbours(&self, intent: &SparseVector, limit: usize) -> Vec<Neighbour> {
        let mut all: Vec<Neighbour> = self
            .intents
            .cosines(intent)
            .into_iter()
            .enumerate()
            .filter(|(_, cosine)| *cosine > 0.0)
            .map(|(episode, cosine)| Neighbour {
                episode: episode as u32,
                cosine,
            })
            .collect();
        let order = |a: &Neighbour, b: &Neighbour| {
            b.cosine
                .total_cmp(&a.cosine)
                .then(a.episode.cmp(&b.episode))
        };
        if all.len() > limit {
            all.select_nth_unstable_by(limit, order);
            all.truncate(limit);
        }
        all.sort_by(order);
        all
    }

    /// The cosine of the intent with the middle of the past intents of every tool.
    pub fn centroid_cosines(&self, intent: &SparseVector) -> Vec<f32> {
        self.centroids.cosines(intent)
    }

    /// How likely a tool is to be called once more in the same run.
    pub fn repeat_rate(&self, tool: u32) -> f32 {
        let (uses, repeats) = (
            self.uses[tool as usize] as f32,
            self.repeats[tool as usize] as f32,
        );
        (repeats + 0.2) / (uses + repeats + 2.0)
    }

    pub fn popularity(&self, next: u32, choices: f32) -> f32 {
        (self.unigrams.count(next) + 0.5) / (self.unigrams.total + 0.5 * choices)
    }

    /// The share of `next` behind `before`, backed off to popularity (Witten-Bell).
    pub fn bigram(&self, before: u32, next: u32, choices: f32) -> f32 {
        let back_off = self.popularity(next, choices);
        self.bigrams
            .get(&before)
            .map_or(back_off, |followers| interpolate(followers, next, back_off))
    }

    /// The share of `next` behind two tools, backed off to [`Self::bigram`].
    pub fn trigram(&self, before: (u32, u32), next: u32, choices: f32) -> f32 {
        let back_off = self.bigram(before.1, next, choices);
        self.trigrams
            .get(&before)
            .map_or(back_off, |followers| interpolate(followers, next, back_off))
    }

    /// The tools that came most often behind `before`, with their counts; ties by number.
    pub fn followers(&self, before: u32, limit: usize) -> Vec<(u32, f32)> {
        let mut found: Vec<(u32, f32)> = self
            .bigrams
            .get(&before)
            .map(|followers| followers.counts.clone())
            .unwrap_or_default();
        found.retain(|(tool, _)| *tool != END);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(limit);
        found
    }

    /// The tools that were called most, ties by number.
    pub fn popular(&self, limit: usize) -> Vec<u32> {
        let mut found = self.unigrams.counts.clone();
        found.retain(|(tool, _)| *tool != END);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found
            .into_iter()
            .take(limit)
            .map(|(tool, _)| tool)
            .collect()
    }

    /// How often runs had both tools in this order (`direct`: with no call between them), and how often
    /// an edge joined them.
    pub fn pair(&self, earlier: u32, later: u32, direct: bool) -> PairCount {
        self.pairs
            .get(&(earlier, later, direct))
            .copied()
            .unwrap_or_default()
    }

    /// How many runs made exactly these calls, in any order; `bag` is sorted.
    pub fn bag_count(&self, bag: &[u32]) -> u32 {
        self.bags.get(bag).copied().unwrap_or_default()
    }
}

fn interpolate(followers: &Followers, next: u32, back_off: f32) -> f32 {
    let kinds = followers.counts.len() as f32;
    (followers.count(next) + kinds * back_off) / (followers.total + kinds)
}
