//! The placeholders of a session, shared by its layers and its replies.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::{PlaceholderMap, RunOrigins};

/// A [`PlaceholderMap`] behind a lock. Clones are the same map.
///
/// A large text is scrubbed for seconds while the map is locked. Tasks of an event loop wait for their
/// [`turn`](Self::turn), which blocks no thread; while one has it, the lock is free.
#[derive(Clone)]
pub struct SharedPlaceholders {
    map: Arc<Mutex<PlaceholderMap>>,
    turns: Arc<tokio::sync::Mutex<()>>,
    origins: Option<Arc<RunOrigins>>,
}

/// The right to lock the placeholders of a session, until this is dropped. It can be moved to another
/// thread.
#[must_use = "other tasks lock the placeholders as soon as this is dropped"]
pub struct PlaceholderTurn {
    shared: SharedPlaceholders,
    _turn: OwnedMutexGuard<()>,
}

impl PlaceholderTurn {
    /// The map, until the guard is dropped.
    pub fn lock(&self) -> MutexGuard<'_, PlaceholderMap> {
        self.shared.lock()
    }
}

impl SharedPlaceholders {
    /// Shares a map.
    pub fn new(map: PlaceholderMap) -> Self {
        Self {
            map: Arc::new(Mutex::new(map)),
            turns: Arc::default(),
            origins: None,
        }
    }

    /// The same map for one run: values that are scrubbed through it get their origin from what the
    /// run has received.
    #[must_use]
    pub fn for_run(&self, origins: Arc<RunOrigins>) -> Self {
        Self {
            map: self.map.clone(),
            turns: self.turns.clone(),
            origins: Some(origins),
        }
    }

    /// Waits for the turn of a task.
    ///
    /// # Cancel safety
    /// A future that is dropped leaves the queue.
    pub async fn turn(&self) -> PlaceholderTurn {
        PlaceholderTurn {
            _turn: self.turns.clone().lock_owned().await,
            shared: self.clone(),
        }
    }

    /// The map, until the guard is dropped. It blocks the thread while another one has the map, so it is
    /// for programs without an event loop; others take a [`turn`](Self::turn) first.
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
