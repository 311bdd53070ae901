//! LRU cache of query embeddings. Scripts repeat their queries, and embedding a query is most of the
//! work of a search.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const CAPACITY: usize = 64;

/// The vectors of a query's texts, see [`IndexedTools::texts_to_embed`](crate::IndexedTools::texts_to_embed).
pub type QueryEmbedding = Arc<Vec<Vec<f32>>>;

/// The embeddings of the most recent queries, by query text.
#[derive(Default)]
pub struct EmbeddingCache {
    /// The most recently used first.
    entries: Mutex<VecDeque<(String, QueryEmbedding)>>,
}

impl EmbeddingCache {
    /// Returns the embedding of a query and marks it as most recently used.
    pub fn get(&self, query: &str) -> Option<QueryEmbedding> {
        let mut entries = self.lock();
        let position = entries.iter().position(|(cached, _)| cached == query)?;
        let entry = entries.remove(position)?;
        let embedding = entry.1.clone();
        entries.push_front(entry);
        Some(embedding)
    }

    /// Adds an embedding; the least recently used one is evicted beyond the capacity.
    pub fn insert(&self, query: &str, embedding: QueryEmbedding) {
        let mut entries = self.lock();
        entries.retain(|(cached, _)| cached != query);
        entries.push_front((query.to_owned(), embedding));
        entries.truncate(CAPACITY);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, QueryEmbedding)>> {
        // A panic while locked may lose an entry but leaves the others whole.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_query_is_evicted_first() {
        let cache = EmbeddingCache::default();
        let number = |query: &str| cache.get(query).map(|embedding| embedding[0][0]);
        for n in 0..CAPACITY {
            cache.insert(&n.to_string(), Arc::new(vec![vec![n as f32]]));
        }
        assert_eq!(number("0"), Some(0.0));
        cache.insert("one more", Arc::new(vec![vec![1.0]]));
        assert_eq!(number("0"), Some(0.0), "it was just used");
        assert_eq!(number("1"), None);
        cache.insert("0", Arc::new(vec![vec![7.0]]));
        assert_eq!(number("0"), Some(7.0));
    }
}
