//! Validated search queries, and their split into sentences.

use std::collections::HashSet;
use std::sync::Arc;

use crate::error::SearchError;
use crate::filter::Filter;

/// Highest number of characters of a query.
pub const MAX_QUERY_CHARS: usize = 500;
/// Highest number of hits of one search.
pub const MAX_HITS: u32 = 50;
/// Number of hits if the caller sets no limit.
pub const DEFAULT_HITS: u32 = 10;
/// Lowest score of a hit if the caller sets no threshold. Any words at all would find what scores less.
pub const DEFAULT_THRESHOLD: f64 = 0.1;

/// A query whose text, limit and threshold are within their bounds.
#[derive(Debug, Clone)]
pub struct Query {
    text: String,
    limit: usize,
    threshold: f64,
    filter: Filter,
}

impl Query {
    /// Checks a query: `text` is trimmed, `limit` is the highest number of hits, `threshold` the lowest
    /// score, [`DEFAULT_THRESHOLD`] by default.
    ///
    /// # Errors
    ///
    /// If the text is empty or longer than [`MAX_QUERY_CHARS`], `limit` is not from 1 to [`MAX_HITS`],
    /// or `threshold` is not from 0 to 1.
    pub fn new(text: &str, limit: u32, threshold: Option<f64>) -> Result<Self, SearchError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SearchError::EmptyQuery);
        }
        let length = text.chars().count();
        if length > MAX_QUERY_CHARS {
            return Err(SearchError::LongQuery(length));
        }
        if !(1..=MAX_HITS).contains(&limit) {
            return Err(SearchError::Limit(limit));
        }
        let threshold = threshold.unwrap_or(DEFAULT_THRESHOLD);
        if !(0.0..=1.0).contains(&threshold) {
            return Err(SearchError::Threshold(threshold));
        }
        Ok(Self {
            text: text.to_owned(),
            limit: limit as usize,
            threshold,
            filter: Filter::default(),
        })
    }

    /// Restricts the query to the tools that match `filter`.
    pub fn with_filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// The same query for somebody who may find only these tools.
    pub(crate) fn within(mut self, visible: HashSet<String>) -> Self {
        self.filter.visible = Some(Arc::new(visible));
        self
    }

    /// The trimmed text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The highest number of hits.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The lowest score of a hit.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The tools that the query is restricted to.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }
}

/// The sentences of a text. They are compared one by one, because a task of several sentences may need
/// a different tool for each.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut rest = text;
    while let Some(end) = sentence_end(rest) {
        let (sentence, after) = rest.split_at(end);
        sentences.push(sentence.trim());
        rest = after;
    }
    sentences.push(rest.trim());
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    sentences
}

/// The byte after the first `. `, `! `, `? ` or line break. A dot inside `a.txt` ends no sentence.
fn sentence_end(text: &str) -> Option<usize> {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let ended = c == '\n' || (c.is_whitespace() && matches!(before, '.' | '!' | '?'));
        if ended {
            return Some(at + c.len_utf8());
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_a_query_are_enforced() {
        let error = |text: &str, limit, threshold| {
            let query = Query::new(text, limit, threshold);
            query.err().map(|error| error.to_string())
        };
        assert!(error(" \n", 5, None).unwrap().contains("is empty"));
        assert!(error(&"ä".repeat(500), 5, None).is_none());
        assert!(
            error(&"ä".repeat(501), 5, None)
                .unwrap()
                .contains("501 characters")
        );
        assert!(error("x", 0, None).unwrap().contains("from 1 to 50"));
        assert!(error("x", 51, None).is_some());
        assert!(error("x", 5, Some(1.5)).unwrap().contains("from 0 to 1"));
        assert!(error("x", 5, Some(f64::NAN)).is_some());
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        assert_eq!(
            sentences("I plan a trip. Which way?! Read a.txt\nThen stop."),
            ["I plan a trip.", "Which way?!", "Read a.txt", "Then stop."]
        );
        assert_eq!(sentences("read a file"), ["read a file"]);
        assert!(sentences("... ! ?").is_empty());
    }
}
