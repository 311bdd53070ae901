//! How much a tool fits a query: words and vectors weighed into one score from 0 to 1.
//!
//! The weights were found by measurement over several sets of tools and queries (docs/search.md)
//! and are the same for all of them.

/// What the cosine with the whole query is worth,
const WHOLE: f32 = 0.3;
/// that with the sentence of the query which fits best,
const SENTENCE: f32 = 0.7;
/// the words,
const WORDS: f32 = 0.12;
/// and the best tool of the same server: what a task needs often lies on one server.
const SERVER: f32 = 0.5;

/// From a sum to the odds that the tool is one of those wanted.
struct Calibration {
    /// What the sum is worth,
    sum: f32,
    /// what is held against a tool for each point that it lies behind the best,
    gap: f32,
    /// and where the odds begin: words that mean nothing to any tool must end up below the
    /// default threshold.
    base: f32,
}

const HYBRID: Calibration = Calibration {
    sum: 9.0,
    gap: 4.0,
    base: -4.2,
};
/// Here the sum is the part of the query's words that was found.
const WORDS_ALONE: Calibration = Calibration {
    sum: 6.0,
    gap: 4.0,
    base: -2.2,
};

/// Only a query that is a tool's name is certain.
const NEARLY_CERTAIN: f64 = 0.99;

impl Calibration {
    fn score(&self, sum: f32, gap: f32) -> f64 {
        let odds = self.base + self.sum * sum - self.gap * gap;
        NEARLY_CERTAIN / (1.0 + f64::from(-odds).exp())
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

/// Scores for all tools at once. `words` has what the words say of each tool and `possible` what
/// they could have said, `servers` the number of each tool's server, and `exact` the tools whose
/// name the query is.
pub fn rank(
    words: &[f32],
    possible: f32,
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
        None => words[place] / possible.max(f32::EPSILON),
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
                false => calibration.score(own + lacking, top - own - lacking),
            };
            (score, parts)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosines(values: &[f32]) -> Cosines {
        Cosines {
            whole: values.to_vec(),
            sentence: values.to_vec(),
        }
    }

    #[test]
    fn scores_lie_between_0_and_1_and_only_a_name_is_certain() {
        let near = cosines(&[1.0, 0.5, -1.0]);
        let ranked = rank(
            &[20.0, 1.0, 0.0],
            20.0,
            Some(&near),
            &[0, 0, 0],
            &[false, true, false],
        );
        let scores: Vec<f64> = ranked.iter().map(|(score, _)| *score).collect();
        assert!(
            scores.iter().all(|score| (0.0..=1.0).contains(score)),
            "{scores:?}"
        );
        assert!(scores[0] < 1.0 && scores[1] == 1.0, "{scores:?}");
    }

    #[test]
    fn a_tool_of_the_better_server_comes_first_where_all_else_is_equal() {
        let near = cosines(&[0.8, 0.4, 0.4]);
        let ranked = rank(&[0.0; 3], 1.0, Some(&near), &[0, 0, 1], &[false; 3]);
        assert!(ranked[1].0 > ranked[2].0, "{ranked:?}");
    }

    #[test]
    fn certain_tools_are_still_told_apart() {
        let near = cosines(&[0.99, 1.0]);
        let ranked = rank(&[20.0, 20.0], 20.0, Some(&near), &[0, 0], &[false; 2]);
        assert!(ranked[1].0 > ranked[0].0, "{ranked:?}");
    }

    #[test]
    fn nothing_is_ranked_without_tools() {
        assert!(rank(&[], 0.0, None, &[], &[]).is_empty());
    }
}
