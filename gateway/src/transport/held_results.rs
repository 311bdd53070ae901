//! Backpressure on a server whose large results are not taken as fast as they arrive.
//!
//! A response waits in memory until its call reads it. While the large ones of a connection exceed a
//! limit, no further line of it is read, so that the server's pipe fills and not the broker.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::body_memory::ValueMemory;

/// Bytes of a response that is counted.
const LARGE: usize = 1024 * 1024;
/// Bytes of the large responses of a connection that may wait.
const MAX_HELD: usize = 32 * 1024 * 1024;
/// How long to wait for their calls. A call that was cancelled takes no response.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// How long the memory of a response is reserved for a call that was cancelled.
const MAX_RESERVED: Duration = Duration::from_secs(10);

/// The large responses of a connection that no call has read yet, by request id.
#[derive(Debug, Default)]
pub struct HeldResults {
    bytes: Mutex<HashMap<i64, usize>>,
    released: Notify,
    /// The memory of responses over HTTP.
    reserved: Mutex<HashMap<i64, (Instant, ValueMemory)>>,
}

impl HeldResults {
    /// A response of `bytes` to the request `id` has arrived.
    pub fn hold(&self, id: i64, bytes: usize) {
        if bytes >= LARGE {
            self.lock().insert(id, bytes);
        }
    }

    /// A response over HTTP to the request `id` has arrived, with its memory.
    pub fn reserve(&self, id: i64, memory: ValueMemory) {
        let mut reserved = self.lock_reserved();
        reserved.retain(|_, (since, _)| since.elapsed() < MAX_RESERVED);
        reserved.insert(id, (Instant::now(), memory));
    }

    /// The call has read its response, or no longer waits for one.
    pub fn release(&self, id: i64) {
        self.lock_reserved().remove(&id);
        if self.lock().remove(&id).is_some() {
            self.released.notify_one();
        }
    }

    /// Waits until there is room for another response.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn wait_for_room(&self) {
        let room = async {
            while self.lock().values().sum::<usize>() > MAX_HELD {
                self.released.notified().await;
            }
        };
        if tokio::time::timeout(MAX_WAIT, room).await.is_err() {
            self.lock().clear();
        }
    }

    fn lock_reserved(&self) -> MutexGuard<'_, HashMap<i64, (Instant, ValueMemory)>> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, usize>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_with_large_unread_results_waits_for_their_calls() {
        let held = HeldResults::default();
        for id in 0..3 {
            held.hold(id, 15 << 20);
        }
        let began = Instant::now();
        held.hold(9, 100);
        let room = held.wait_for_room();
        let reader = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            held.release(1);
        };
        tokio::join!(room, reader);
        assert_eq!(began.elapsed(), Duration::from_millis(200));
        held.hold(1, 15 << 20);
        held.wait_for_room().await;
        assert_eq!(
            began.elapsed(),
            Duration::from_millis(1_200),
            "no call reads"
        );
    }
}
