//! Which words are in which tools: BM25F, where a word counts by the field it is in.

use std::collections::{HashMap, HashSet};

use crate::document::Document;
use crate::words::{is_filler, stems, worth};

/// How fast more of the same word stops counting.
const SATURATION: f32 = 1.2;
/// How much a long field is held against its words.
const LENGTH_PENALTY: f32 = 0.75;

/// Fields and what a word in each is worth (docs/search.md).
const FIELDS: [f32; FIELD_COUNT] = [2.0, 3.0, 2.0, 1.0, 0.5, 0.3, 0.3];
const FIELD_COUNT: usize = 7;

fn fields(document: &Document) -> [Vec<String>; FIELD_COUNT] {
    let parameters = document.parameters.iter();
    [
        stems(&document.server),
        stems(&document.name),
        stems(document.title.as_deref().unwrap_or_default()),
        stems(&document.description),
        parameters.clone().flat_map(|p| stems(&p.name)).collect(),
        parameters
            .clone()
            .flat_map(|p| stems(&p.description))
            .collect(),
        parameters
            .flat_map(|p| &p.values)
            .flat_map(|value| stems(value))
            .collect(),
    ]
}

/// The words of a set of tools.
#[derive(Debug, Default)]
pub struct Lexicon {
    terms: HashMap<String, Term>,
    documents: usize,
}

#[derive(Debug, Default)]
struct Term {
    rarity: f32,
    /// Which tools, and how much the word says about each.
    postings: Vec<(u32, f32)>,
}

/// The words of a query, as this lexicon sees them.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    words: Vec<WantedWord>,
}

impl Wanted {
    /// What a tool that says all of it, and little else, would score.
    pub fn possible(&self) -> f32 {
        let weights = self.words.iter().map(|word| word.weight);
        weights.sum::<f32>() * (SATURATION + 1.0)
    }
}

#[derive(Debug, Clone)]
struct WantedWord {
    stem: String,
    /// How rare it is among the tools, and what it is worth at all.
    weight: f32,
}

impl Lexicon {
    pub fn new(documents: &[Document]) -> Self {
        let fields: Vec<_> = documents.iter().map(fields).collect();
        let mut mean = [0.0_f32; FIELD_COUNT];
        for document in &fields {
            for (mean, words) in mean.iter_mut().zip(document) {
                *mean += words.len() as f32 / fields.len() as f32;
            }
        }

        let mut terms: HashMap<String, Term> = HashMap::new();
        for (place, document) in fields.into_iter().enumerate() {
            let mut amounts: HashMap<String, f32> = HashMap::new();
            for ((words, worth), mean) in document.into_iter().zip(FIELDS).zip(mean) {
                let length = words.len() as f32 / mean.max(f32::EPSILON);
                let worth = worth / (1.0 - LENGTH_PENALTY + LENGTH_PENALTY * length);
                for word in words {
                    *amounts.entry(word).or_default() += worth;
                }
            }
            for (word, amount) in amounts {
                let says = amount * (SATURATION + 1.0) / (amount + SATURATION);
                let term = terms.entry(word).or_default();
                // Fewer tools than that fit into memory.
                term.postings.push((place as u32, says));
            }
        }
        for term in terms.values_mut() {
            term.rarity = rarity(term.postings.len(), documents.len());
        }
        Self {
            terms,
            documents: documents.len(),
        }
    }

    /// What the query asks for. A word that no tool has counts as asked for, too.
    pub fn wanted(&self, query: &str) -> Wanted {
        let mut seen = HashSet::new();
        let mut all = stems(query);
        if all.iter().any(|stem| !is_filler(stem)) {
            all.retain(|stem| !is_filler(stem));
        }
        let words: Vec<WantedWord> = all
            .into_iter()
            .filter(|stem| seen.insert(stem.clone()))
            .map(|stem| {
                let rarity = match self.terms.get(&stem) {
                    Some(term) => term.rarity,
                    None => rarity(0, self.documents),
                };
                WantedWord {
                    weight: rarity * worth(&stem),
                    stem,
                }
            })
            .collect();
        Wanted { words }
    }

    /// Adds to `scores`, one for each tool, what the words say.
    pub fn score(&self, wanted: &Wanted, scores: &mut [f32]) {
        for word in &wanted.words {
            let Some(term) = self.terms.get(&word.stem) else {
                continue;
            };
            for &(place, says) in &term.postings {
                if let Some(score) = scores.get_mut(place as usize) {
                    *score += word.weight * says;
                }
            }
        }
    }

    /// The words of the query that a tool has.
    pub fn matched(&self, wanted: &Wanted, place: usize) -> Vec<String> {
        let has = |word: &&WantedWord| {
            self.terms.get(&word.stem).is_some_and(|term| {
                let postings = &term.postings;
                postings
                    .binary_search_by_key(&(place as u32), |&(at, _)| at)
                    .is_ok()
            })
        };
        let words = wanted.words.iter().filter(has);
        words.map(|word| word.stem.clone()).collect()
    }
}

fn rarity(tools_with_it: usize, tools: usize) -> f32 {
    let (with, all) = (tools_with_it as f32, tools as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> Document {
        Document {
            name: name.to_owned(),
            description: description.to_owned(),
            ..Document::default()
        }
    }

    fn scores(tools: &[Document], query: &str) -> Vec<f32> {
        let lexicon = Lexicon::new(tools);
        let mut scores = vec![0.0; tools.len()];
        lexicon.score(&lexicon.wanted(query), &mut scores);
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
    fn fillers_count_only_where_there_is_nothing_else() {
        let tools = [tool("get", "Gets"), tool("weather", "Tells the weather")];
        assert_eq!(scores(&tools, "get me the weather")[0], 0.0);
        assert!(scores(&tools, "get")[0] > 0.0);
    }

    #[test]
    fn words_that_no_tool_has_are_asked_for_all_the_same() {
        let tools = [tool("weather", "Tells the weather")];
        let lexicon = Lexicon::new(&tools);
        let one = lexicon.wanted("weather").possible();
        let two = lexicon.wanted("weather zyxomma").possible();
        assert!(two > one);
        assert_eq!(
            lexicon.matched(&lexicon.wanted("weather zyxomma"), 0),
            ["weather"]
        );
    }

    #[test]
    fn no_tools_and_no_words_score_nothing() {
        assert!(scores(&[], "weather").is_empty());
        assert_eq!(scores(&[tool("", "")], "🚀 -- '; DROP TABLE tools"), [0.0]);
    }
}
