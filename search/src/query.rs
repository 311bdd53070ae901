//! What is asked, checked before anything is done about it.

use crate::error::SearchError;
use crate::filter::Filter;

/// Characters of a query.
pub const QUERY_CHARS: usize = 500;
/// Tools that one search may find.
pub const MOST_HITS: u32 = 50;
/// Tools that a search finds where nobody says how many.
pub const DEFAULT_HITS: u32 = 10;
/// What a hit must score where nobody says what: under it lies what any words at all would find.
pub const DEFAULT_THRESHOLD: f64 = 0.1;

/// A search that makes sense.
#[derive(Debug, Clone)]
pub struct Query {
    text: String,
    limit: usize,
    threshold: f64,
    filter: Filter,
}

impl Query {
    pub fn new(text: &str, limit: u32, threshold: Option<f64>) -> Result<Self, SearchError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SearchError::EmptyQuery);
        }
        let length = text.chars().count();
        if length > QUERY_CHARS {
            return Err(SearchError::LongQuery(length));
        }
        if !(1..=MOST_HITS).contains(&limit) {
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

    pub fn with_filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    pub fn filter(&self) -> &Filter {
        &self.filter
    }
}

/// The sentences of a text. A task of several sentences asks for several things, and a tool that
/// fits one of them is wanted.
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

/// Behind `. `, `! `, `? ` or a line's end; a dot inside `a.txt` ends nothing.
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
    fn limits_of_a_query_are_kept() {
        let told = |text: &str, limit, threshold| {
            let query = Query::new(text, limit, threshold);
            query.err().map(|error| error.to_string())
        };
        assert!(told(" \n", 5, None).unwrap().contains("is empty"));
        assert!(told(&"ä".repeat(500), 5, None).is_none());
        assert!(
            told(&"ä".repeat(501), 5, None)
                .unwrap()
                .contains("501 characters")
        );
        assert!(told("x", 0, None).unwrap().contains("from 1 to 50"));
        assert!(told("x", 51, None).is_some());
        assert!(told("x", 5, Some(1.5)).unwrap().contains("from 0 to 1"));
        assert!(told("x", 5, Some(f64::NAN)).is_some());
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
