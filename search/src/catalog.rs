//! A set of tools, ready to be searched.

use std::collections::HashMap;
use std::sync::Arc;

use crate::document::Document;
use crate::filter::Filter;
use crate::lexicon::Lexicon;
use crate::query::{Query, sentences};
use crate::ranking::{Cosines, Parts, rank};
use crate::vectors::{Vectors, mean, unit};

/// Sentences of one query that are compared; what is said later joins the last.
const SENTENCES: usize = 8;

/// The tools with their words, and with their vectors once those are there.
///
/// Words and vectors lie in memory while LanceDB has the vectors on disk: the ranking wants both
/// parts for every tool (the best of each server counts), so a query would read the whole table,
/// and LanceDB's full text search knows no fields.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    words: Arc<WordSide>,
    vectors: Option<Arc<Vectors>>,
}

#[derive(Debug, Default)]
struct WordSide {
    documents: Vec<Document>,
    lexicon: Lexicon,
    /// The number of each tool's server.
    servers: Vec<u32>,
}

/// A tool that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    pub id: String,
    /// From 0 to 1: how well the tool fits, on one scale for every query.
    pub score: f64,
    pub parts: Parts,
    /// The stems of the query that the tool has.
    pub matched: Vec<String>,
}

impl Catalog {
    pub fn new(documents: Vec<Document>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let servers = documents
            .iter()
            .map(|document| {
                let next = numbers.len() as u32;
                *numbers.entry(&document.server).or_insert(next)
            })
            .collect();
        Self {
            words: Arc::new(WordSide {
                lexicon: Lexicon::new(&documents),
                servers,
                documents,
            }),
            vectors: None,
        }
    }

    /// The same tools with one vector for each, in order.
    pub fn with_vectors(&self, vectors: Vectors) -> Self {
        Self {
            words: self.words.clone(),
            vectors: Some(Arc::new(vectors)),
        }
    }

    pub fn documents(&self) -> &[Document] {
        &self.words.documents
    }

    /// Whether both come from one [`Catalog::new`].
    pub fn is_about_same_tools(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.words, &other.words)
    }

    pub fn has_vectors(&self) -> bool {
        self.vectors.is_some()
    }

    /// What must be embedded for a query: the whole, and its sentences where there are several.
    /// From three sentences on, their mean stands for the whole, which takes as long to embed as
    /// all of them.
    pub fn texts(query: &str) -> Vec<String> {
        let sentences = sentences(query);
        let mut texts = match sentences.len() {
            0..3 => vec![query.to_owned()],
            _ => Vec::new(),
        };
        if sentences.len() > 1 {
            let (first, rest) = sentences.split_at(sentences.len().min(SENTENCES) - 1);
            texts.extend(first.iter().map(|&sentence| sentence.to_owned()));
            texts.push(rest.join(" "));
        }
        texts
    }

    /// The tools that fit, best first. `embedded` are the vectors of [`Catalog::texts`].
    pub fn search(&self, query: &Query, embedded: Option<&[Vec<f32>]>) -> Vec<Hit> {
        let cosines = embedded.and_then(|embedded| self.cosines(query.text(), embedded));
        self.find(
            query.text(),
            cosines.as_ref(),
            query.filter(),
            query.limit(),
            query.threshold(),
        )
    }

    /// The same for text of any length, with every way to rank: for measurements.
    pub fn find(
        &self,
        text: &str,
        cosines: Option<&Cosines>,
        filter: &Filter,
        limit: usize,
        threshold: f64,
    ) -> Vec<Hit> {
        let WordSide {
            documents,
            lexicon,
            servers,
        } = &*self.words;
        let wanted = lexicon.wanted(text);
        let mut words = vec![0.0; documents.len()];
        lexicon.score(&wanted, &mut words);
        let name = text.trim();
        let exact: Vec<bool> = documents
            .iter()
            .map(|tool| {
                name.eq_ignore_ascii_case(&tool.id) || name.eq_ignore_ascii_case(&tool.name)
            })
            .collect();
        let ranked = rank(&words, wanted.possible(), cosines, servers, &exact);
        let mut order: Vec<usize> = (0..documents.len())
            .filter(|&place| {
                let (score, parts) = &ranked[place];
                // Words alone know nothing about a tool without any of them.
                let known = parts.exact || parts.whole.is_some() || parts.words > 0.0;
                *score >= threshold && known && filter.passes(&documents[place])
            })
            .collect();
        let by_score = |&a: &usize, &b: &usize| {
            let scores = ranked[b].0.total_cmp(&ranked[a].0);
            scores.then_with(|| documents[a].id.cmp(&documents[b].id))
        };
        if order.len() > limit && limit > 0 {
            order.select_nth_unstable_by(limit - 1, by_score);
            order.truncate(limit);
        }
        order.sort_unstable_by(by_score);
        order
            .into_iter()
            .map(|place| Hit {
                id: documents[place].id.clone(),
                score: ranked[place].0,
                parts: ranked[place].1,
                matched: lexicon.matched(&wanted, place),
            })
            .collect()
    }

    /// The cosines of a query with every tool; `embedded` are the vectors of [`Catalog::texts`].
    /// `None` where there are no vectors to compare with, or they are of another model.
    pub fn cosines(&self, query: &str, embedded: &[Vec<f32>]) -> Option<Cosines> {
        let vectors = self.vectors.as_ref()?;
        let (whole, sentences) = match sentences(query).len() {
            0..3 => {
                let (whole, sentences) = embedded.split_first()?;
                (whole.clone(), sentences)
            }
            _ => (mean(embedded.iter().cloned()), embedded),
        };
        let whole = vectors.cosines(&whole);
        if whole.len() != self.words.documents.len() {
            return None;
        }
        let mut best: Option<Vec<f32>> = None;
        for sentence in sentences {
            let cosines = vectors.cosines(&unit(sentence.clone()));
            match &mut best {
                None => best = Some(cosines),
                Some(best) => {
                    for (best, cosine) in best.iter_mut().zip(cosines) {
                        *best = best.max(cosine);
                    }
                }
            }
        }
        let sentence = best.unwrap_or_else(|| whole.clone());
        Some(Cosines { whole, sentence })
    }
}
