//! A set of tools with their lexical index and their vectors.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bm25::Bm25Index;
use crate::document::ToolDocument;
use crate::filter::Filter;
use crate::query::{Query, sentences};
use crate::ranking::{Cosines, ScoreParts, rank};
use crate::vectors::{QuantizedVectors, mean, unit};

/// Sentences of a query that are embedded separately; the last one includes all that follow.
const MAX_SENTENCES: usize = 8;

/// Tools with their lexical index, and with their vectors once these are computed. Cheap to clone.
///
/// Both are held in memory, although LanceDB has the vectors on disk: ranking needs the words and the
/// vector of every tool (the best tool of each server counts), so a query would read the whole table,
/// and LanceDB's full-text search has no field weights.
#[derive(Debug, Clone, Default)]
pub struct IndexedTools {
    lexical: Arc<Lexical>,
    vectors: Option<Arc<QuantizedVectors>>,
}

#[derive(Debug, Default)]
struct Lexical {
    documents: Vec<ToolDocument>,
    bm25: Bm25Index,
    /// The server of each tool, as a number from 0.
    servers: Vec<u32>,
}

/// A tool that matches a query.
#[derive(Debug, Clone)]
pub struct Hit {
    /// `server:tool`
    pub id: String,
    /// From 0 to 1: how well the tool matches, on one scale for every query.
    pub score: f64,
    /// The parts of the score.
    pub parts: ScoreParts,
    /// The stems of the query that the tool has.
    pub matched: Vec<String>,
}

impl IndexedTools {
    /// Builds the lexical index of `documents`.
    pub fn new(documents: Vec<ToolDocument>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let servers = documents
            .iter()
            .map(|document| {
                let next = numbers.len() as u32;
                *numbers.entry(&document.server).or_insert(next)
            })
            .collect();
        Self {
            lexical: Arc::new(Lexical {
                bm25: Bm25Index::new(&documents),
                servers,
                documents,
            }),
            vectors: None,
        }
    }

    /// The same tools with a vector for each, in the same order.
    pub(crate) fn with_vectors(&self, vectors: QuantizedVectors) -> Self {
        Self {
            lexical: self.lexical.clone(),
            vectors: Some(Arc::new(vectors)),
        }
    }

    /// The tools.
    pub fn documents(&self) -> &[ToolDocument] {
        &self.lexical.documents
    }

    /// Whether both are clones from one [`IndexedTools::new`].
    pub fn has_same_tools_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.lexical, &other.lexical)
    }

    /// Whether the vectors are computed.
    pub fn has_vectors(&self) -> bool {
        self.vectors.is_some()
    }

    /// The texts to embed for a query: the whole query, and its sentences if there are several. From
    /// three sentences on, their mean replaces the whole, whose embedding would take as long as all of
    /// theirs.
    pub fn texts_to_embed(query: &str) -> Vec<String> {
        let sentences = sentences(query);
        let mut texts = match sentences.len() {
            0..3 => vec![query.to_owned()],
            _ => Vec::new(),
        };
        if sentences.len() > 1 {
            let (first, rest) = sentences.split_at(sentences.len().min(MAX_SENTENCES) - 1);
            texts.extend(first.iter().map(|&sentence| sentence.to_owned()));
            texts.push(rest.join(" "));
        }
        texts
    }

    /// The tools that match, best first. `embedded` has the vectors of
    /// [`IndexedTools::texts_to_embed`]; without it, words alone are ranked.
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

    /// As [`IndexedTools::search`], for text of any length and with any cosines: for measurements.
    pub fn find(
        &self,
        text: &str,
        cosines: Option<&Cosines>,
        filter: &Filter,
        limit: usize,
        threshold: f64,
    ) -> Vec<Hit> {
        let Lexical {
            documents,
            bm25,
            servers,
        } = &*self.lexical;
        let terms = bm25.query_terms(text);
        let mut words = vec![0.0; documents.len()];
        bm25.score(&terms, &mut words);
        let name = text.trim();
        let exact: Vec<bool> = documents
            .iter()
            .map(|tool| {
                name.eq_ignore_ascii_case(&tool.id) || name.eq_ignore_ascii_case(&tool.name)
            })
            .collect();
        let ranked = rank(&words, terms.max_score(), cosines, servers, &exact);
        let mut order: Vec<usize> = (0..documents.len())
            .filter(|&index| {
                let (score, parts) = &ranked[index];
                // Without a vector, a tool that has no word of the query has no score.
                let has_score = parts.exact || parts.whole.is_some() || parts.words > 0.0;
                *score >= threshold && has_score && filter.matches(&documents[index])
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
            .map(|index| Hit {
                id: documents[index].id.clone(),
                score: ranked[index].0,
                parts: ranked[index].1,
                matched: bm25.matched(&terms, index),
            })
            .collect()
    }

    /// The cosines of a query with every tool. `embedded` has the vectors of
    /// [`IndexedTools::texts_to_embed`]. `None` if the tools have no vectors, or vectors of another
    /// width.
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
        if whole.len() != self.lexical.documents.len() {
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
