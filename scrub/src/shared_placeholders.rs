//! The placeholders of a session, shared by its layers and its replies.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{PlaceholderMap, RunOrigins};

/// A [`PlaceholderMap`] behind a lock. Clones are the same map.
#[derive(Clone)]
pub struct SharedPlaceholders {
    map: Arc<Mutex<PlaceholderMap>>,
    origins: Option<Arc<RunOrigins>>,
}

impl SharedPlaceholders {
    /// Shares a map.
    pub fn new(map: PlaceholderMap) -> Self {
        Self {
            map: Arc::new(Mutex::new(map)),
            origins: None,
        }
    }

    /// The same map for one run: values that are scrubbed through it get their origin from what the
    /// run has received.
    #[must_use]
    pub fn for_run(&self, origins: Arc<RunOrigins>) -> Self {
        Self {
            map: self.map.clone(),
            origins: Some(origins),
        }
    }

    /// The map, until the guard is dropped.
    pub fn lock(&self) -> MutexGuard<'_, PlaceholderMap> {
        // Each placeholder is added in one step, so the map is whole after a panic.
        let mut map = self.map.lock().unwrap_or_else(PoisonError::into_inner);
        map.set_origins(
            self.origins
                .as_ref()
                .map(Arc::downgrade)
                .unwrap_or_default(),
        );
        map
    }
}
