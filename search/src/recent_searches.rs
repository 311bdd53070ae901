//! The last searches of a session, until it calls what they found.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::gateway_documents::FoundTool;

/// How many searches are kept.
const MAX_SEARCHES: usize = 8;
/// Hits of one search that a call can confirm: later ones were hardly read.
const HITS: usize = 10;

#[derive(Default)]
pub struct RecentSearches(Mutex<VecDeque<Recent>>);

struct Recent {
    query: String,
    /// The tools it found that were not called yet.
    tools: Vec<String>,
}

impl RecentSearches {
    pub fn note(&self, query: &str, found: &[FoundTool]) {
        let tools = found.iter().take(HITS);
        self.remember(query, tools.map(|found| found.hit.id.clone()).collect());
    }

    /// The queries that found a tool, each once.
    pub fn take_queries_for(&self, tool: &str) -> Vec<String> {
        let mut queries = Vec::new();
        for recent in self.lock().iter_mut() {
            let before = recent.tools.len();
            recent.tools.retain(|found| found != tool);
            if recent.tools.len() < before {
                queries.push(recent.query.clone());
            }
        }
        queries
    }

    fn remember(&self, query: &str, tools: Vec<String>) {
        let mut searches = self.lock();
        if searches.len() == MAX_SEARCHES {
            searches.pop_front();
        }
        let query = query.to_owned();
        searches.push_back(Recent { query, tools });
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Recent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_confirms_the_searches_that_found_its_tool_once() {
        let recent = RecentSearches::default();
        recent.remember(
            "read a file",
            vec!["fs:read".to_owned(), "fs:list".to_owned()],
        );
        recent.remember("weather", vec!["sky:now".to_owned()]);
        assert_eq!(recent.take_queries_for("fs:read"), ["read a file"]);
        assert!(recent.take_queries_for("fs:read").is_empty());
        assert_eq!(recent.take_queries_for("fs:list"), ["read a file"]);
        assert!(recent.take_queries_for("fs:write").is_empty());
    }

    #[test]
    fn old_searches_are_forgotten() {
        let recent = RecentSearches::default();
        for n in 0..=MAX_SEARCHES {
            recent.remember(&n.to_string(), vec!["a:b".to_owned()]);
        }
        let queries = recent.take_queries_for("a:b");
        assert_eq!((queries.len(), queries[0].as_str()), (MAX_SEARCHES, "1"));
    }
}
