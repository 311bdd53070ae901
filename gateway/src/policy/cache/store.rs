//! An LRU cache with a TTL per tool.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::config::CacheConfig;
use super::key::canonical_json;
use crate::policy::globs::server_of;

/// Caches results of type `R` for the tools that the operator listed.
#[derive(Debug)]
pub struct ResultCache<R> {
    config: CacheConfig,
    entries: Mutex<Entries<R>>,
}

/// Counters of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct CacheStats {
    /// Cached results.
    pub entries: usize,
    /// Size of all keys and results.
    pub bytes: usize,
    /// Lookups that found a result.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
}

#[derive(Debug)]
struct Entries<R> {
    by_key: HashMap<Arc<str>, Entry<R>>,
    /// Keys in the order of their last use, oldest first.
    by_use: BTreeMap<u64, Arc<str>>,
    uses: u64,
    stats: CacheStats,
}

#[derive(Debug)]
struct Entry<R> {
    result: Arc<R>,
    bytes: usize,
    expires_at: Instant,
    last_use: u64,
}

impl<R> ResultCache<R> {
    /// An empty cache.
    pub fn new(config: &CacheConfig) -> Self {
        Self {
            config: config.clone(),
            entries: Mutex::new(Entries {
                by_key: HashMap::new(),
                by_use: BTreeMap::new(),
                uses: 0,
                stats: CacheStats::default(),
            }),
        }
    }

    /// Whether results of this tool are cached.
    pub fn covers(&self, id: &str) -> bool {
        self.ttl(id).is_some()
    }

    /// The cached result of this call, if it has not expired.
    pub fn get(&self, id: &str, arguments: &Value) -> Option<Arc<R>> {
        self.ttl(id)?;
        let key = key(id, arguments);
        let now = Instant::now();
        let mut entries = self.lock();
        if entries
            .by_key
            .get(&*key)
            .is_some_and(|entry| entry.expires_at <= now)
        {
            entries.remove(&key);
        }
        let result = entries.touch(&key);
        match result {
            Some(_) => entries.stats.hits += 1,
            None => entries.stats.misses += 1,
        }
        result
    }

    /// Caches a result of `bytes` bytes, if the tool is listed. The caller must not pass errors,
    /// also not those of the tool.
    pub fn put(&self, id: &str, arguments: &Value, result: Arc<R>, bytes: usize) {
        let Some(ttl) = self.ttl(id) else {
            return;
        };
        let key: Arc<str> = key(id, arguments).into();
        let bytes = bytes.saturating_add(key.len());
        let mut entries = self.lock();
        entries.remove(&key);
        // A result that would evict all others is not cached.
        if self.exceeds_size(bytes) {
            return;
        }
        entries.insert(
            key,
            Entry {
                result,
                bytes,
                expires_at: Instant::now() + ttl,
                last_use: 0,
            },
        );
        while entries.by_key.len() > self.config.max_entries.get()
            || self.exceeds_size(entries.stats.bytes)
        {
            entries.evict();
        }
    }

    fn exceeds_size(&self, bytes: usize) -> bool {
        bytes as u64 > self.config.max_bytes.bytes()
    }

    /// Discards the results of a server: it restarted or changed its tools.
    pub fn forget_server(&self, server: &str) {
        let mut entries = self.lock();
        let keys: Vec<_> = entries
            .by_key
            .keys()
            .filter(|key| server_of(key) == server)
            .cloned()
            .collect();
        for key in keys {
            entries.remove(&key);
        }
    }

    /// The counters.
    pub fn stats(&self) -> CacheStats {
        self.lock().stats
    }

    fn ttl(&self, id: &str) -> Option<Duration> {
        self.config
            .tools
            .iter()
            .filter(|(glob, _)| glob.matches(id))
            .map(|(_, ttl)| ttl.get())
            .min()
    }

    fn lock(&self) -> MutexGuard<'_, Entries<R>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// In canonical JSON, a space occurs only within strings and not at the start, so no two calls have the
/// same key.
fn key(id: &str, arguments: &Value) -> String {
    format!("{id} {}", canonical_json(arguments))
}

impl<R> Entries<R> {
    fn touch(&mut self, key: &str) -> Option<Arc<R>> {
        let entry = self.by_key.get_mut(key)?;
        self.uses += 1;
        if let Some(key) = self.by_use.remove(&entry.last_use) {
            self.by_use.insert(self.uses, key);
        }
        entry.last_use = self.uses;
        Some(entry.result.clone())
    }

    fn insert(&mut self, key: Arc<str>, mut entry: Entry<R>) {
        self.uses += 1;
        entry.last_use = self.uses;
        self.by_use.insert(entry.last_use, key.clone());
        self.stats.bytes += entry.bytes;
        self.by_key.insert(key, entry);
        self.stats.entries = self.by_key.len();
    }

    fn remove(&mut self, key: &str) {
        if let Some(entry) = self.by_key.remove(key) {
            self.by_use.remove(&entry.last_use);
            self.stats.bytes -= entry.bytes;
            self.stats.entries = self.by_key.len();
        }
    }

    fn evict(&mut self) {
        if let Some((_, key)) = self.by_use.pop_first() {
            self.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use tokio::time::advance;

    fn cache(config: Value) -> ResultCache<String> {
        ResultCache::new(&serde_json::from_value(config).unwrap())
    }

    fn put(cache: &ResultCache<String>, id: &str, arguments: Value, answer: &str) {
        cache.put(id, &arguments, Arc::new(answer.to_owned()), answer.len());
    }

    #[tokio::test(start_paused = true)]
    async fn only_listed_tools_are_cached() {
        let cache = cache(json!({"tools": {"docs:search_*": "1m"}}));
        put(&cache, "docs:search_page", json!({}), "found");
        put(&cache, "docs:write", json!({}), "written");
        assert_eq!(*cache.get("docs:search_page", &json!({})).unwrap(), "found");
        assert_eq!(cache.get("docs:write", &json!({})), None);
        assert_eq!(cache.stats().entries, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_expires_after_its_ttl() {
        let cache = cache(json!({"tools": {"docs:*": "1m"}}));
        put(&cache, "docs:x", json!({}), "old");
        advance(Duration::from_secs(59)).await;
        assert!(cache.get("docs:x", &json!({})).is_some());
        advance(Duration::from_secs(1)).await;
        assert!(cache.get("docs:x", &json!({})).is_none());
        assert_eq!(cache.stats().bytes, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_shortest_ttl_of_all_matching_globs_counts() {
        let cache = cache(json!({"tools": {"docs:*": "1h", "docs:news": "1s"}}));
        put(&cache, "docs:news", json!({}), "today");
        advance(Duration::from_secs(2)).await;
        assert!(cache.get("docs:news", &json!({})).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn other_arguments_have_another_entry() {
        let cache = cache(json!({"tools": {"*": "1m"}}));
        put(&cache, "docs:x", json!({"q": "a", "n": 1}), "a");
        assert!(cache.get("docs:x", &json!({"n": 1.0, "q": "a"})).is_some());
        assert!(cache.get("docs:x", &json!({"q": "b", "n": 1})).is_none());
        assert!(cache.get("docs:y", &json!({"q": "a", "n": 1})).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn the_least_recently_used_entry_is_evicted_first() {
        let cache = cache(json!({"tools": {"*": "1m"}, "maxEntries": 2}));
        put(&cache, "d:a", json!({}), "a");
        put(&cache, "d:b", json!({}), "b");
        cache.get("d:a", &json!({}));
        put(&cache, "d:c", json!({}), "c");
        assert!(cache.get("d:a", &json!({})).is_some());
        assert!(cache.get("d:b", &json!({})).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_larger_than_the_cache_is_not_cached_and_evicts_nothing() {
        let cache = cache(json!({"tools": {"*": "1m"}, "maxBytes": "0.1k"}));
        put(&cache, "d:a", json!({}), "a");
        put(&cache, "d:b", json!({}), &"b".repeat(200));
        assert!(cache.get("d:a", &json!({})).is_some());
        assert!(cache.get("d:b", &json!({})).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn the_results_of_one_server_are_discarded_and_no_others() {
        let cache = cache(json!({"tools": {"*": "1m"}}));
        put(&cache, "a:x", json!({}), "1");
        put(&cache, "ab:x", json!({}), "2");
        cache.forget_server("a");
        assert!(cache.get("a:x", &json!({})).is_none());
        assert!(cache.get("ab:x", &json!({})).is_some());
    }

    proptest! {
        #[test]
        fn the_bounds_hold_whatever_is_put(puts in prop::collection::vec((0u8..20, 0usize..80), 0..120)) {
            let cache = cache(json!({"tools": {"*": "1m"}, "maxEntries": 8, "maxBytes": "0.2k"}));
            for (n, size) in puts {
                put(&cache, &format!("d:{n}"), json!({}), &"x".repeat(size));
                let stats = cache.stats();
                prop_assert!(stats.entries <= 8 && stats.bytes <= 204, "{:?}", stats);
                let entries = cache.lock();
                prop_assert_eq!(entries.by_use.len(), entries.by_key.len());
                let bytes: usize = entries.by_key.values().map(|entry| entry.bytes).sum();
                prop_assert_eq!(bytes, stats.bytes);
            }
        }
    }
}
