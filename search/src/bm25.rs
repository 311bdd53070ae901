//! Lexical ranking with BM25F: BM25 with a weight per document field.

use std::collections::{HashMap, HashSet};

use crate::document::ToolDocument;
use crate::spelling::SpellingIndex;
use crate::stems::{each_stem, is_stop_word, stems, term_weight};

/// BM25's `k1`: how fast repetitions of a word stop counting.
const SATURATION: f32 = 1.2;
/// BM25's `b`: how much a long field lowers the weight of its words.
const LENGTH_PENALTY: f32 = 0.75;
/// The weight of a spelling correction, relative to a word as it was typed.
const CORRECTED: f32 = 0.9;

/// A field of a tool, with its own weight.
#[derive(Debug, Clone, Copy)]
enum Field {
    Server,
    Name,
    Title,
    Description,
    ParameterName,
    ParameterDescription,
    ParameterValue,
    /// Words of earlier queries that led to the tool.
    Feedback,
}

impl Field {
    const COUNT: usize = 8;
    const ALL: [Self; Self::COUNT] = [
        Self::Server,
        Self::Name,
        Self::Title,
        Self::Description,
        Self::ParameterName,
        Self::ParameterDescription,
        Self::ParameterValue,
        Self::Feedback,
    ];

    /// The weight of a word in this field (docs/search.md).
    const fn weight(self) -> f32 {
        match self {
            Self::Server => 2.0,
            Self::Name => 3.0,
            Self::Title => 2.0,
            Self::Description => 1.0,
            Self::ParameterName => 0.5,
            Self::ParameterDescription => 0.3,
            Self::ParameterValue => 0.3,
            Self::Feedback => 0.6,
        }
    }

    fn stems(self, tool: &ToolDocument) -> Vec<String> {
        let parameters = tool.parameters.iter();
        match self {
            Self::Server => server_stems(tool),
            Self::Name => stems(&tool.name),
            Self::Title => stems(tool.title.as_deref().unwrap_or_default()),
            Self::Description => stems(&tool.description),
            Self::ParameterName => parameters.flat_map(|p| stems(&p.name)).collect(),
            Self::ParameterDescription => parameters.flat_map(|p| stems(&p.description)).collect(),
            Self::ParameterValue => {
                let values = parameters.flat_map(|p| &p.values);
                values.flat_map(|value| stems(value)).collect()
            }
            Self::Feedback => tool.feedback.clone(),
        }
    }
}

/// A word that is in both names of a server counts once.
fn server_stems(tool: &ToolDocument) -> Vec<String> {
    let mut words = stems(&tool.server);
    for word in stems(&tool.server_title) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// An inverted index over the stems of a set of tools.
#[derive(Debug, Default)]
pub struct Bm25Index {
    postings: HashMap<String, Postings>,
    spelling: SpellingIndex,
    documents: usize,
}

/// The tools that have a stem, by position and in ascending order, with the saturated and
/// length-normalised frequency of the stem in each.
type Postings = Vec<(u32, f32)>;

/// The terms of a query, weighted by [`Bm25Index::query_terms`].
#[derive(Debug, Clone, Default)]
pub struct QueryTerms {
    terms: Vec<QueryTerm>,
}

impl QueryTerms {
    /// The score of a tool that has all terms and little else.
    pub fn max_score(&self) -> f32 {
        let weights = self.terms.iter().map(|term| term.weight);
        weights.sum::<f32>() * (SATURATION + 1.0)
    }
}

#[derive(Debug, Clone)]
struct QueryTerm {
    /// The stem, or the stems of all equally near corrections if the word is misspelt.
    stems: Vec<String>,
    /// Inverse document frequency times [`term_weight`].
    weight: f32,
}

impl Bm25Index {
    /// Indexes tools; their positions in `documents` identify them from then on.
    pub fn new(documents: &[ToolDocument]) -> Self {
        let fields: Vec<[Vec<String>; Field::COUNT]> = documents
            .iter()
            .map(|tool| Field::ALL.map(|field| field.stems(tool)))
            .collect();
        let mut mean_length = [0.0_f32; Field::COUNT];
        for document in &fields {
            for (mean, words) in mean_length.iter_mut().zip(document) {
                *mean += words.len() as f32 / fields.len() as f32;
            }
        }

        let mut postings: HashMap<String, Postings> = HashMap::new();
        for (position, document) in fields.into_iter().enumerate() {
            let mut frequencies: HashMap<String, f32> = HashMap::new();
            for ((field, words), mean) in Field::ALL.into_iter().zip(document).zip(mean_length) {
                let length = words.len() as f32 / mean.max(f32::EPSILON);
                let weight = field.weight() / (1.0 - LENGTH_PENALTY + LENGTH_PENALTY * length);
                for word in words {
                    *frequencies.entry(word).or_default() += weight;
                }
            }
            for (word, frequency) in frequencies {
                let saturated = frequency * (SATURATION + 1.0) / (frequency + SATURATION);
                // Fewer than 2^32 tools fit into memory.
                let posting = (position as u32, saturated);
                postings.entry(word).or_default().push(posting);
            }
        }
        Self {
            spelling: SpellingIndex::new(postings.keys()),
            postings,
            documents: documents.len(),
        }
    }

    /// The weighted terms of a query. A term that no tool has is included: it lowers the share of the
    /// query that a tool matches. Stop words are dropped unless the query has nothing else.
    pub fn query_terms(&self, query: &str) -> QueryTerms {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        each_stem(query, |word, stem| {
            if seen.insert(stem.clone()) {
                all.push((word.to_owned(), stem));
            }
        });
        if all.iter().any(|(_, stem)| !is_stop_word(stem)) {
            all.retain(|(_, stem)| !is_stop_word(stem));
        }
        let terms = all
            .into_iter()
            .map(|(word, stem)| self.query_term(&word, stem));
        QueryTerms {
            terms: terms.collect(),
        }
    }

    fn query_term(&self, word: &str, stem: String) -> QueryTerm {
        let weight = |stem: &str| {
            let tools_with_it = self.postings.get(stem).map_or(0, Vec::len);
            normalised_idf(tools_with_it, self.documents) * term_weight(stem)
        };
        let corrections = match self.postings.contains_key(&stem) {
            true => Vec::new(),
            false => self.spelling.corrections(word, &stem),
        };
        match corrections.iter().map(|stem| weight(stem)).reduce(f32::max) {
            None => QueryTerm {
                weight: weight(&stem),
                stems: vec![stem],
            },
            Some(highest) => QueryTerm {
                weight: CORRECTED * highest,
                stems: corrections.into_iter().map(str::to_owned).collect(),
            },
        }
    }

    /// Adds the BM25F score of each tool to `scores`, which has one element per tool.
    pub fn score(&self, query: &QueryTerms, scores: &mut [f32]) {
        for term in &query.terms {
            let postings = term.stems.iter().filter_map(|stem| self.postings.get(stem));
            for &(position, frequency) in postings.flatten() {
                if let Some(score) = scores.get_mut(position as usize) {
                    *score += term.weight * frequency;
                }
            }
        }
    }

    /// The stems of the query that the tool at `position` has.
    pub fn matched(&self, query: &QueryTerms, position: usize) -> Vec<String> {
        let has = |stem: &&String| {
            self.postings.get(*stem).is_some_and(|postings| {
                postings
                    .binary_search_by_key(&(position as u32), |&(at, _)| at)
                    .is_ok()
            })
        };
        let stems = query.terms.iter().flat_map(|term| &term.stems);
        stems.filter(has).cloned().collect()
    }
}

/// Inverse document frequency, from 0 to about 1. It is divided by the highest value that this number
/// of tools allows, so that words weigh the same against vectors in a large set as in a small one.
fn normalised_idf(tools_with_it: usize, tools: usize) -> f32 {
    let (with, all) = (tools_with_it as f32, tools as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln() / (2.0 + all).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> ToolDocument {
        ToolDocument {
            name: name.to_owned(),
            description: description.to_owned(),
            ..ToolDocument::default()
        }
    }

    fn scores(tools: &[ToolDocument], query: &str) -> Vec<f32> {
        let index = Bm25Index::new(tools);
        let mut scores = vec![0.0; tools.len()];
        index.score(&index.query_terms(query), &mut scores);
        scores
    }

    #[test]
    fn a_word_in_the_name_counts_more_than_one_in_the_description() {
        let tools = [
            tool("send_invoice", "Sends it by mail"),
            tool("send_it", "Sends an invoice by mail"),
            tool("weather", "Tells how warm it is"),
        ];
        let scores = scores(&tools, "invoice");
        assert!(scores[0] > scores[1] && scores[1] > 0.0, "{scores:?}");
        assert_eq!(scores[2], 0.0);
    }

    #[test]
    fn stop_words_count_only_where_there_is_nothing_else() {
        let tools = [tool("get", "Gets"), tool("weather", "Tells the weather")];
        assert_eq!(scores(&tools, "get me the weather")[0], 0.0);
        assert!(scores(&tools, "get")[0] > 0.0);
    }

    #[test]
    fn words_of_a_query_that_led_to_a_call_find_the_tool_again() {
        let mut tools = [
            tool("weather", "Tells how warm it is"),
            tool("traffic", "Tells how full roads are"),
        ];
        assert_eq!(scores(&tools, "umbrella")[0], 0.0);
        tools[0].feedback = vec!["umbrella".to_owned()];
        assert!(scores(&tools, "umbrella")[0] > 0.0);
    }

    #[test]
    fn a_misspelt_word_finds_the_tool_and_counts_less() {
        let tools = [
            tool("weather", "Tells the weather"),
            tool("screenshot", "Shoots the screen"),
        ];
        let correct = scores(&tools, "screenshot");
        let misspelt = scores(&tools, "scrennshot");
        assert!(
            0.0 < misspelt[1] && misspelt[1] < correct[1],
            "{misspelt:?}"
        );
        assert_eq!(misspelt[0], 0.0);
    }

    #[test]
    fn words_that_no_tool_has_raise_the_highest_possible_score() {
        let tools = [tool("weather", "Tells the weather")];
        let index = Bm25Index::new(&tools);
        let one = index.query_terms("weather").max_score();
        let two = index.query_terms("weather zyxomma").max_score();
        assert!(two > one);
        assert_eq!(
            index.matched(&index.query_terms("weather zyxomma"), 0),
            ["weather"]
        );
    }

    #[test]
    fn no_tools_and_no_words_score_nothing() {
        assert!(scores(&[], "weather").is_empty());
        assert_eq!(scores(&[tool("", "")], "🚀 -- '; DROP TABLE tools"), [0.0]);
    }
}
