//! Tags each token: a linear model over the features, and the best sequence of tags.

use std::collections::HashMap;

use super::features::{self, FEATURES, ROW_BITS};
use super::tokens::{Token, tokens};
use super::word_table::WordTable;

/// The kinds of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityKind {
    Person,
    Place,
    Organisation,
}

/// A tag is 0 outside of names; a kind has two, for its first token and for the others.
pub const TAGS: usize = 7;
/// A row of weights is padded to a power of two.
pub const ROW: usize = 8;

/// A name in a text, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    pub kind: EntityKind,
    pub start: usize,
    pub end: usize,
    /// By how much the tags of the name score better than none; from 0.
    pub margin: i32,
}

/// Scores of a row of weights.
pub type Scores = [i32; ROW];

/// Where weights come from: the trainer has its own.
pub trait Weights {
    /// Adds the weights of a row.
    fn add(&self, row: u32, to: &mut Scores);
    /// The score of a tag after another.
    fn transition(&self, from: usize, to: usize) -> i32;
}

/// Whether a tag may follow another: the inside of a name follows its beginning.
pub fn may_follow(from: usize, to: usize) -> bool {
    to == 0 || to % 2 == 1 || from == to || from + 1 == to
}

/// The tag of the first token of a kind.
pub fn first_tag(kind: EntityKind) -> usize {
    match kind {
        EntityKind::Person => 1,
        EntityKind::Place => 3,
        EntityKind::Organisation => 5,
    }
}

/// The kind of a tag.
fn kind_of(tag: usize) -> Option<EntityKind> {
    match tag {
        1 | 2 => Some(EntityKind::Person),
        3 | 4 => Some(EntityKind::Place),
        5 | 6 => Some(EntityKind::Organisation),
        _ => None,
    }
}

/// The tokens of a text with what the model needs of them.
pub struct Tagged {
    pub tokens: Vec<Token>,
    pub eligible: Vec<bool>,
    pub attributes: Vec<features::Attributes>,
}

impl Tagged {
    pub fn new(text: &str, table: &WordTable) -> Self {
        let tokens = tokens(text);
        let attributes = features::attributes(text, &tokens, table);
        let eligible = features::eligible(&attributes, &tokens);
        Self {
            tokens,
            eligible,
            attributes,
        }
    }

    pub fn rows(&self, at: usize) -> [u32; FEATURES] {
        features::rows(&self.attributes, at)
    }

    /// The ranges of tokens that may be part of names.
    pub fn runs(&self) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for at in 0..self.tokens.len() {
            if self.eligible[at] {
                match runs.last_mut() {
                    Some((_, end)) if *end == at => *end = at + 1,
                    _ => runs.push((at, at + 1)),
                }
            }
        }
        runs
    }

    /// The scores of each tag for the tokens of a run.
    pub fn scores(&self, run: (usize, usize), weights: &impl Weights) -> Vec<Scores> {
        let score = |at: usize| {
            let mut scores = [0; ROW];
            for row in self.rows(at) {
                weights.add(row, &mut scores);
            }
            scores
        };
        (run.0..run.1).map(score).collect()
    }
}

/// The tags with the highest score of a run.
pub fn best_tags(scores: &[Scores], weights: &impl Weights) -> Vec<usize> {
    const NEVER: i32 = i32::MIN / 2;
    let mut reached = [NEVER; TAGS];
    reached[0] = 0;
    let mut back: Vec<[u8; TAGS]> = Vec::with_capacity(scores.len());
    for here in scores {
        let mut next = [NEVER; TAGS];
        let mut from = [0u8; TAGS];
        for to in 0..TAGS {
            for (before, &so_far) in reached.iter().enumerate() {
                if so_far > NEVER && may_follow(before, to) {
                    let score = so_far + weights.transition(before, to) + here[to];
                    if score > next[to] {
                        (next[to], from[to]) = (score, before as u8);
                    }
                }
            }
        }
        reached = next;
        back.push(from);
    }
    let mut tag = (0..TAGS)
        .max_by_key(|tag| (reached[*tag], TAGS - tag))
        .unwrap_or(0);
    let mut tags = vec![0; scores.len()];
    for at in (0..scores.len()).rev() {
        tags[at] = tag;
        tag = usize::from(back[at][tag]);
    }
    tags
}

/// The names in a text.
pub fn entities(tagged: &Tagged, weights: &impl Weights) -> Vec<Entity> {
    let mut found = Vec::new();
    for run in tagged.runs() {
        let scores = tagged.scores(run, weights);
        let tags = best_tags(&scores, weights);
        let mut at = 0;
        while at < tags.len() {
            let Some(kind) = kind_of(tags[at]) else {
                at += 1;
                continue;
            };
            let inside = tags[at + 1..]
                .iter()
                .take_while(|tag| **tag == first_tag(kind) + 1);
            let end = at + 1 + inside.count();
            let margin: i32 = (at..end).map(|i| scores[i][tags[i]] - scores[i][0]).sum();
            found.push(Entity {
                kind,
                start: tagged.tokens[run.0 + at].start,
                end: tagged.tokens[run.0 + end - 1].end,
                margin: margin.max(0),
            });
            at = end;
        }
    }
    add_repeated(tagged, &mut found);
    found
}

/// Adds the further occurrences of a word that is in a person's name of several words: `Adam McDowell sang;
/// McDowell left`.
fn add_repeated(tagged: &Tagged, found: &mut Vec<Entity>) {
    let mut words: HashMap<u32, i32> = HashMap::new();
    for at in 0..tagged.tokens.len() {
        let token = tagged.tokens[at];
        let inside = |e: &&Entity| e.start <= token.start && token.end <= e.end;
        let name = found[..].partition_point(|e| e.end < token.end);
        let name = found[name.min(found.len())..].first().filter(inside);
        if let Some(name) = name
            && name.kind == EntityKind::Person
            && (token.start, token.end) != (name.start, name.end)
            && let Some(word) = tagged.attributes[at].distinctive()
        {
            words.insert(word, name.margin);
        }
    }
    if words.is_empty() {
        return;
    }
    let mut repeated = Vec::new();
    for (token, attributes) in tagged.tokens.iter().zip(&tagged.attributes) {
        let margin = attributes.distinctive().and_then(|word| words.get(&word));
        let free = |found: &[Entity]| {
            let at = found.partition_point(|e| e.end <= token.start);
            found.get(at).is_none_or(|e| e.start >= token.end)
        };
        if let Some(margin) = margin
            && free(found)
        {
            repeated.push(Entity {
                kind: EntityKind::Person,
                start: token.start,
                end: token.end,
                margin: *margin,
            });
        }
    }
    found.extend(repeated);
    found.sort_by_key(|e| e.start);
}

/// The weights of the committed model: signed bytes.
pub struct Model {
    rows: Vec<i8>,
    transitions: [[i32; TAGS]; TAGS],
}

impl Model {
    /// Bytes of a model in the file: the transitions, four bytes each, then the rows.
    pub const BYTES: usize = TAGS * TAGS * 4 + (ROW << ROW_BITS);

    /// Reads a model; `None` if the length is another.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (head, rows) = bytes.split_at_checked(TAGS * TAGS * 4)?;
        if bytes.len() != Self::BYTES {
            return None;
        }
        let mut transitions = [[0; TAGS]; TAGS];
        for (index, value) in head.chunks_exact(4).enumerate() {
            let value = i32::from_le_bytes([value[0], value[1], value[2], value[3]]);
            transitions[index / TAGS][index % TAGS] = value;
        }
        let rows = rows.iter().map(|byte| byte.cast_signed()).collect();
        Some(Self { rows, transitions })
    }
}

impl Weights for Model {
    fn add(&self, row: u32, to: &mut Scores) {
        let from = row as usize * ROW;
        for (sum, weight) in to.iter_mut().zip(&self.rows[from..from + ROW]) {
            *sum += i32::from(*weight);
        }
    }

    fn transition(&self, from: usize, to: usize) -> i32 {
        self.transitions[from][to]
    }
}
