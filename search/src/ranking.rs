//! How much a tool fits a query: words and vectors weighed into one score from 0 to 1.
//!
//! The weights were found by measurement over several sets of tools and queries (docs/search.md)
//! and are the same for all of them. What makes them fit queries of any kind is how the parts are
//! scaled: the words by what the query could have matched, so that a lucky match of one word in
//! twenty counts little, and the vectors by cosines, which need no scaling.

/// What the cosine with the whole query is worth,
const WHOLE: f32 = 0.3;
/// that with the sentence of the query which fits best,
const SENTENCE: f32 = 0.7;
/// the words,
const WORDS: f32 = 0.25;
/// and the best tool of the same server: what a task needs often lies on one server.
const SERVER: f32 = 0.3;

/// Where the score of words and vectors is one half, and how steep it is there: the odds that a
/// tool is one of those wanted, fitted to queries with and without a fitting tool.
const HYBRID: Calibration = Calibration {
    middle: 0.62,
    steepness: 9.0,
};
/// The same for words alone.
const WORDS_ALONE: Calibration = Calibration {
    middle: 2.0,
    steepness: 1.6,
};

/// Only a query that is a tool's name is certain.
const NEARLY_CERTAIN: f64 = 0.99;

struct Calibration {
    middle: f32,
    steepness: f32,
}

impl Calibration {
    fn score(&self, raw: f32) -> f64 {
        let odds = f64::from((raw - self.middle) * self.steepness).exp();
        (odds / (1.0 + odds)).min(NEARLY_CERTAIN)
    }
}

/// Why a tool scored what it scored.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Parts {
    /// What the words say, from 0.
    pub words: f32,
    /// The cosine with the whole query and with its best sentence; none without a model.
    pub whole: Option<f32>,
    pub sentence: Option<f32>,
    /// What the best tool of the same server brought.
    pub server: f32,
    /// The query is the tool's name.
    pub exact: bool,
}

/// The cosines of every tool with the whole query, and the best with one of its sentences.
pub struct Cosines {
    pub whole: Vec<f32>,
    pub sentence: Vec<f32>,
}

/// Scores for all tools at once. `servers` has the number of each tool's server, and `exact` the
/// tools whose name the query is.
pub fn rank(
    words: &[f32],
    cosines: Option<&Cosines>,
    servers: &[u32],
    exact: &[bool],
) -> Vec<(f64, Parts)> {
    let at = |values: &[f32], place: usize| values.get(place).copied().unwrap_or_default();
    let own = |place: usize| match cosines {
        Some(cosines) => {
            WHOLE * at(&cosines.whole, place)
                + SENTENCE * at(&cosines.sentence, place)
                + WORDS * words[place]
        }
        None => words[place],
    };
    let own: Vec<f32> = (0..words.len()).map(own).collect();
    let mut best = vec![f32::MIN; servers.iter().max().map_or(0, |&most| most as usize + 1)];
    for (&own, &server) in own.iter().zip(servers) {
        let best = &mut best[server as usize];
        *best = best.max(own);
    }
    let top = best.iter().copied().fold(f32::MIN, f32::max);

    own.iter()
        .zip(servers)
        .enumerate()
        .map(|(place, (&own, &server))| {
            // Never a bonus: a tool alone on the best server scores what it scores by itself.
            let lacking = SERVER * (best[server as usize] - top);
            let parts = Parts {
                words: words[place],
                whole: cosines.map(|cosines| at(&cosines.whole, place)),
                sentence: cosines.map(|cosines| at(&cosines.sentence, place)),
                server: lacking,
                exact: exact[place],
            };
            let calibration = match cosines {
                Some(_) => HYBRID,
                None => WORDS_ALONE,
            };
            let score = match parts.exact {
                true => 1.0,
                false => calibration.score(own + lacking),
            };
            (score, parts)
        })
        .collect()
}
