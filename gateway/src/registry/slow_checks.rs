//! Turns for checks of arguments that take long.

use std::sync::{Arc, LazyLock};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// Checks of all servers at the same time: they are pure computation. At least two, so that one slow
/// server never holds every turn.
static ALL: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Semaphore::new(cores.max(2))
});

/// The slow checks of one server: one at a time. So a server has one place at most in the queue of all
/// servers, and the next one waits for no more than one check of each.
#[derive(Debug)]
pub struct SlowChecks(Arc<Semaphore>);

impl Default for SlowChecks {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

/// A turn, until it is dropped.
pub struct Turn {
    _all: SemaphorePermit<'static>,
    _own: OwnedSemaphorePermit,
}

impl SlowChecks {
    /// Waits for a turn. `None` cannot happen: the semaphores are never closed.
    pub async fn turn(&self) -> Option<Turn> {
        let own = self.0.clone().acquire_owned().await.ok()?;
        let all = ALL.acquire().await.ok()?;
        Some(Turn {
            _all: all,
            _own: own,
        })
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn the_slow_checks_of_one_server_do_not_delay_those_of_another() {
        let (slow, other) = (SlowChecks::default(), SlowChecks::default());
        let held = slow.turn().await.unwrap();
        let waiting: Vec<_> = (0..100).map(|_| slow.turn()).collect();
        let mut waiting = Box::pin(futures::future::join_all(waiting));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert!(other.turn().now_or_never().is_some());
        drop(held);
    }
}
