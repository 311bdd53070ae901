//! Queries that were embedded lately. Scripts ask the same again and again, and to embed a query is
//! most of the work of a search.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const MOST: usize = 64;

/// The vectors of a query's texts.
pub type Embedded = Arc<Vec<Vec<f32>>>;

#[derive(Default)]
pub struct Recent {
    /// The latest first.
    queries: Mutex<VecDeque<(String, Embedded)>>,
}

impl Recent {
    pub fn get(&self, query: &str) -> Option<Embedded> {
        let mut queries = self.lock();
        let place = queries.iter().position(|(known, _)| known == query)?;
        let found = queries.remove(place)?;
        let embedded = found.1.clone();
        queries.push_front(found);
        Some(embedded)
    }

    pub fn keep(&self, query: &str, embedded: Embedded) {
        let mut queries = self.lock();
        queries.retain(|(known, _)| known != query);
        queries.push_front((query.to_owned(), embedded));
        queries.truncate(MOST);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Embedded)>> {
        // Whatever a panic left, each entry is whole.
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_longest_ago_is_forgotten_first() {
        let recent = Recent::default();
        let number = |query: &str| recent.get(query).map(|embedded| embedded[0][0]);
        for asked in 0..MOST {
            recent.keep(&asked.to_string(), Arc::new(vec![vec![asked as f32]]));
        }
        assert_eq!(number("0"), Some(0.0));
        recent.keep("one more", Arc::new(vec![vec![1.0]]));
        assert_eq!(number("0"), Some(0.0), "it was just asked");
        assert_eq!(number("1"), None);
        recent.keep("0", Arc::new(vec![vec![7.0]]));
        assert_eq!(number("0"), Some(7.0));
    }
}
