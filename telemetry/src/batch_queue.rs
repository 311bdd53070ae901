//! What waits to be sent.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// A queue of bounded length. Nothing waits for room in it: what does not fit is dropped and counted.
#[derive(Debug)]
pub struct BatchQueue<T> {
    items: Mutex<VecDeque<T>>,
    capacity: usize,
    batch: usize,
    full_batch: Notify,
    dropped: AtomicU64,
}

impl<T> BatchQueue<T> {
    /// A queue of `capacity` items that are sent by `batch`.
    pub fn new(capacity: usize, batch: usize) -> Self {
        Self {
            items: Mutex::default(),
            capacity,
            batch: batch.clamp(1, capacity.max(1)),
            full_batch: Notify::new(),
            dropped: AtomicU64::new(0),
        }
    }

    /// Adds an item, or drops it.
    pub fn push(&self, item: T) {
        let mut items = self.lock();
        if items.len() >= self.capacity {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        items.push_back(item);
        // The task that sends is woken once per batch, and not for every item.
        if items.len() == self.batch {
            self.full_batch.notify_one();
        }
    }

    /// The oldest items; an empty list if there are none.
    pub fn take(&self) -> Vec<T> {
        let mut items = self.lock();
        let count = items.len().min(self.batch);
        items.drain(..count).collect()
    }

    /// Returns when there is a whole batch.
    pub async fn has_batch(&self) {
        self.full_batch.notified().await;
    }

    /// Counts items that could not be sent.
    pub fn drop_sent(&self, count: usize) {
        self.dropped.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// How many items were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_what_is_new_and_counts_it() {
        let queue = BatchQueue::new(3, 2);
        (0..5).for_each(|item| queue.push(item));
        assert_eq!(queue.dropped(), 2);
        assert_eq!((queue.take(), queue.take()), (vec![0, 1], vec![2]));
        assert!(queue.take().is_empty());
    }
}
