//! Which words are in which tools: BM25F, where a word counts by the field it is in.

use std::collections::{HashMap, HashSet};

use crate::document::Document;
use crate::spelling::Spelling;
use crate::words::{each_stem, is_filler, stems, worth};

/// How fast more of the same word stops counting.
const SATURATION: f32 = 1.2;
/// How much a long field is held against its words.
const LENGTH_PENALTY: f32 = 0.75;
/// What a word that was probably meant counts, against one that was written.
const MEANT: f32 = 0.9;

/// Fields and what a word in each is worth (docs/search.md).
const FIELDS: [f32; FIELD_COUNT] = [2.0, 3.0, 2.0, 1.0, 0.5, 0.3, 0.3, 0.6];
const FIELD_COUNT: usize = 8;

fn fields(document: &Document) -> [Vec<String>; FIELD_COUNT] {
    let parameters = document.parameters.iter();
    [
        server_words(document),
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
        document.asked.clone(),
    ]
}

/// A word that is in both names of a server counts once.
fn server_words(document: &Document) -> Vec<String> {
    let mut words = stems(&document.server);
    for word in stems(&document.server_title) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// The words of a set of tools.
#[derive(Debug, Default)]
pub struct Lexicon {
    terms: HashMap<String, Postings>,
    spelling: Spelling,
    documents: usize,
}

/// Which tools have a word, and how much it says about each.
type Postings = Vec<(u32, f32)>;

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
    /// The stem; several where the word is misspelt and may have been meant for each.
    stems: Vec<String>,
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

        let mut terms: HashMap<String, Postings> = HashMap::new();
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
                // Fewer tools than that fit into memory.
                terms.entry(word).or_default().push((place as u32, says));
            }
        }
        Self {
            spelling: Spelling::new(terms.keys()),
            terms,
            documents: documents.len(),
        }
    }

    /// What the query asks for. A word that no tool has counts as asked for, too.
    pub fn wanted(&self, query: &str) -> Wanted {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        each_stem(query, |word, stem| {
            if seen.insert(stem.clone()) {
                all.push((word.to_owned(), stem));
            }
        });
        if all.iter().any(|(_, stem)| !is_filler(stem)) {
            all.retain(|(_, stem)| !is_filler(stem));
        }
        let words = all.into_iter().map(|(word, stem)| self.want(&word, stem));
        Wanted {
            words: words.collect(),
        }
    }

    fn want(&self, word: &str, stem: String) -> WantedWord {
        let weight = |stem: &str| {
            let tools_with_it = self.terms.get(stem).map_or(0, Vec::len);
            rarity(tools_with_it, self.documents) * worth(stem)
        };
        let meant = match self.terms.contains_key(&stem) {
            true => Vec::new(),
            false => self.spelling.meant(word, &stem),
        };
        match meant.iter().map(|stem| weight(stem)).reduce(f32::max) {
            None => WantedWord {
                weight: weight(&stem),
                stems: vec![stem],
            },
            Some(most) => WantedWord {
                weight: MEANT * most,
                stems: meant.into_iter().map(str::to_owned).collect(),
            },
        }
    }

    /// Adds to `scores`, one for each tool, what the words say.
    pub fn score(&self, wanted: &Wanted, scores: &mut [f32]) {
        for word in &wanted.words {
            let postings = word.stems.iter().filter_map(|stem| self.terms.get(stem));
            for &(place, says) in postings.flatten() {
                if let Some(score) = scores.get_mut(place as usize) {
                    *score += word.weight * says;
                }
            }
        }
    }

    /// The words of the query that a tool has.
    pub fn matched(&self, wanted: &Wanted, place: usize) -> Vec<String> {
        let has = |stem: &&String| {
            self.terms.get(*stem).is_some_and(|postings| {
                postings
                    .binary_search_by_key(&(place as u32), |&(at, _)| at)
                    .is_ok()
            })
        };
        let stems = wanted.words.iter().flat_map(|word| &word.stems);
        stems.filter(has).cloned().collect()
    }
}

/// How rare a word is, from 0 to about 1: set against the most that so many tools allow, so that
/// words weigh the same against vectors in a large set as in a small one.
fn rarity(tools_with_it: usize, tools: usize) -> f32 {
    let (with, all) = (tools_with_it as f32, tools as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln() / (2.0 + all).ln()
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
    fn what_was_asked_before_a_call_leads_to_it_again() {
        let mut tools = [
            tool("weather", "Tells how warm it is"),
            tool("traffic", "Tells how full roads are"),
        ];
        assert_eq!(scores(&tools, "umbrella")[0], 0.0);
        tools[0].asked = vec!["umbrella".to_owned()];
        assert!(scores(&tools, "umbrella")[0] > 0.0);
    }

    #[test]
    fn a_slip_finds_what_was_meant_and_counts_less() {
        let tools = [
            tool("weather", "Tells the weather"),
            tool("screenshot", "Shoots the screen"),
        ];
        let meant = scores(&tools, "screenshot");
        let slipped = scores(&tools, "scrennshot");
        assert!(0.0 < slipped[1] && slipped[1] < meant[1], "{slipped:?}");
        assert_eq!(slipped[0], 0.0);
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
