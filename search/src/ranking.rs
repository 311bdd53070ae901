//! Hybrid ranking: words and vectors combined into one score from 0 to 1.
//!
//! The weights were tuned by measurement over several sets of tools and queries (docs/search.md) and
//! are the same for all of them.

/// Weight of the cosine with the whole query.
const WHOLE: f32 = 0.3;
/// Weight of the cosine with the best matching sentence of the query.
const SENTENCE: f32 = 0.7;
/// Weight of the BM25F score.
const WORDS: f32 = 0.12;
/// Weight of the best tool of the same server: a task often needs several tools of one server.
const SERVER: f32 = 0.5;

/// Maps a weighted sum to a score with a logistic function.
struct Calibration {
    /// Factor of the sum.
    sum: f32,
    /// Factor of the distance to the best tool, which lowers the score.
    gap: f32,
    /// Intercept. It is set so that a query that matches no tool scores below the default threshold.
    base: f32,
}

const HYBRID: Calibration = Calibration {
    sum: 9.0,
    gap: 4.0,
    base: -4.2,
};
/// For words alone, where the sum is the share of the highest possible BM25F score.
const WORDS_ALONE: Calibration = Calibration {
    sum: 6.0,
    gap: 4.0,
    base: -2.2,
};

/// The highest score of a tool whose name is not the query.
const MAX_INEXACT: f64 = 0.99;

impl Calibration {
    fn score(&self, sum: f32, gap: f32) -> f64 {
        let logit = self.base + self.sum * sum - self.gap * gap;
        MAX_INEXACT / (1.0 + f64::from(-logit).exp())
    }
}

/// The parts of a tool's score.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScoreParts {
    /// The BM25F score, from 0.
    pub words: f32,
    /// The cosine with the whole query; `None` without a model.
    pub whole: Option<f32>,
    /// The cosine with the best matching sentence; `None` without a model.
    pub sentence: Option<f32>,
    /// The deduction for a server whose best tool is not the best of all: 0 or less.
    pub server: f32,
    /// Whether the query is the tool's name.
    pub exact: bool,
}

/// The cosines of all tools with a query.
pub struct Cosines {
    /// With the whole query.
    pub whole: Vec<f32>,
    /// With the best matching sentence.
    pub sentence: Vec<f32>,
}

/// Scores all tools. For each tool, `words` has the BM25F score, of at most `max_words`, `servers` the
/// number of its server, and `exact` whether the query is its name.
pub fn rank(
    words: &[f32],
    max_words: f32,
    cosines: Option<&Cosines>,
    servers: &[u32],
    exact: &[bool],
) -> Vec<(f64, ScoreParts)> {
    let at = |values: &[f32], index: usize| values.get(index).copied().unwrap_or_default();
    let own = |index: usize| match cosines {
        Some(cosines) => {
            WHOLE * at(&cosines.whole, index)
                + SENTENCE * at(&cosines.sentence, index)
                + WORDS * words[index]
        }
        None => words[index] / max_words.max(f32::EPSILON),
    };
    let own: Vec<f32> = (0..words.len()).map(own).collect();
    let mut best = vec![f32::MIN; servers.iter().max().map_or(0, |&last| last as usize + 1)];
    for (&own, &server) in own.iter().zip(servers) {
        let best = &mut best[server as usize];
        *best = best.max(own);
    }
    let top = best.iter().copied().fold(f32::MIN, f32::max);

    own.iter()
        .zip(servers)
        .enumerate()
        .map(|(index, (&own, &server))| {
            // 0 on the best server, so that a tool alone on it keeps its own score.
            let deduction = SERVER * (best[server as usize] - top);
            let parts = ScoreParts {
                words: words[index],
                whole: cosines.map(|cosines| at(&cosines.whole, index)),
                sentence: cosines.map(|cosines| at(&cosines.sentence, index)),
                server: deduction,
                exact: exact[index],
            };
            let calibration = match cosines {
                Some(_) => HYBRID,
                None => WORDS_ALONE,
            };
            let score = match parts.exact {
                true => 1.0,
                false => calibration.score(own + deduction, top - own - deduction),
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
    fn scores_lie_between_0_and_1_and_only_a_name_scores_1() {
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
    fn tools_with_the_highest_scores_still_differ() {
        let near = cosines(&[0.99, 1.0]);
        let ranked = rank(&[20.0, 20.0], 20.0, Some(&near), &[0, 0], &[false; 2]);
        assert!(ranked[1].0 > ranked[0].0, "{ranked:?}");
    }

    #[test]
    fn nothing_is_ranked_without_tools() {
        assert!(rank(&[], 0.0, None, &[], &[]).is_empty());
    }
}
