//! Fair scheduling of runs. A pool has a limited number of slots; the keys that share it get slots
//! fairly, however many runs one of them requests.
//!
//! The contract: the waiting key with the fewest running runs is next. One key never holds every
//! slot, so another key's first run starts at once. And the more runs a key has running, the higher
//! the niceness of each further one, so that a key with many busy scripts gets about as much CPU as
//! one with a single script.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pml_protocol::FairShareKey;
use tokio::sync::oneshot;

/// One slot in this many is reserved for other keys.
const RESERVED_SHARE: usize = 8;
/// What each further run of a key adds to its niceness: it leaves about a third of the CPU weight.
const NICENESS_STEP: i32 = 5;
const MAX_NICENESS: i32 = 19;

/// The slots of a pool and the queues of runs that wait for them.
pub struct FairScheduler {
    per_key: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// Running runs by key.
    running: HashMap<u64, usize>,
    /// One queue for each key that waits; the key that got a permit last is last.
    queues: VecDeque<KeyQueue>,
}

/// The runs of one key that wait for a slot.
struct KeyQueue {
    key: u64,
    waiting: VecDeque<oneshot::Sender<RunPermit>>,
}

/// A slot of the pool. Dropping it lets the next run start.
pub struct RunPermit {
    scheduler: Arc<FairScheduler>,
    key: u64,
    /// How many runs the key had running when this one started, itself included.
    rank: usize,
}

impl FairScheduler {
    pub fn new(slots: usize) -> Arc<Self> {
        let slots = slots.max(1);
        let reserved = if slots > 1 {
            slots.div_ceil(RESERVED_SHARE)
        } else {
            0
        };
        Arc::new(Self {
            per_key: slots - reserved,
            state: Mutex::new(State {
                free: slots,
                running: HashMap::new(),
                queues: VecDeque::new(),
            }),
        })
    }

    /// Waits for a slot. Dropping the future leaves the queue.
    pub async fn acquire(self: &Arc<Self>, key: &FairShareKey) -> RunPermit {
        let waiting = {
            let (granted, waiting) = oneshot::channel();
            self.lock().queue(key.number()).push_back(granted);
            waiting
        };
        self.grant_free_slots();
        match waiting.await {
            Ok(permit) => permit,
            // Unreachable: the sender is dropped only with `self`, which outlives the call.
            Err(_) => RunPermit {
                scheduler: self.clone(),
                key: key.number(),
                rank: self.lock().begin(key.number()),
            },
        }
    }

    /// How many runs wait for a slot.
    pub fn waiting(&self) -> usize {
        let state = self.lock();
        state.queues.iter().map(|queue| queue.waiting.len()).sum()
    }

    fn grant_free_slots(self: &Arc<Self>) {
        loop {
            let next = self.lock().next(self.per_key);
            let Some((key, rank, waiting)) = next else {
                return;
            };
            // The waiter was dropped. Ends its run directly: dropping a permit would call this
            // function recursively, once for each dropped waiter.
            if waiting.is_closed() {
                self.lock().end(key);
                continue;
            }
            // A waiter that is dropped at this moment drops the permit, which frees the slot again.
            let _ = waiting.send(RunPermit {
                scheduler: self.clone(),
                key,
                rank,
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn queue(&mut self, key: u64) -> &mut VecDeque<oneshot::Sender<RunPermit>> {
        let known = self.queues.iter().position(|queue| queue.key == key);
        let index = known.unwrap_or_else(|| {
            self.queues.push_back(KeyQueue {
                key,
                waiting: VecDeque::new(),
            });
            self.queues.len() - 1
        });
        &mut self.queues[index].waiting
    }

    /// The next run to start, if a slot is free for it.
    fn next(&mut self, per_key: usize) -> Option<(u64, usize, oneshot::Sender<RunPermit>)> {
        if self.free == 0 {
            return None;
        }
        let (index, _) = self
            .queues
            .iter()
            .enumerate()
            .map(|(index, queue)| (index, self.running.get(&queue.key).copied().unwrap_or(0)))
            .filter(|(_, running)| *running < per_key)
            .min_by_key(|(_, running)| *running)?;
        let mut queue = self.queues.remove(index)?;
        let waiting = queue.waiting.pop_front();
        let key = queue.key;
        if !queue.waiting.is_empty() {
            self.queues.push_back(queue);
        }
        Some((key, self.begin(key), waiting?))
    }

    fn begin(&mut self, key: u64) -> usize {
        self.free = self.free.saturating_sub(1);
        let running = self.running.entry(key).or_default();
        *running += 1;
        *running
    }

    fn end(&mut self, key: u64) {
        self.free += 1;
        if let Some(running) = self.running.get_mut(&key) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&key);
            }
        }
    }
}

impl RunPermit {
    /// The niceness of the run's worker: 0 for the first run of a key.
    pub fn niceness(&self) -> i32 {
        let further = i32::try_from(self.rank.saturating_sub(1)).unwrap_or(i32::MAX);
        further.saturating_mul(NICENESS_STEP).min(MAX_NICENESS)
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        self.scheduler.lock().end(self.key);
        self.scheduler.grant_free_slots();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn one_key_never_holds_every_slot() {
        let scheduler = FairScheduler::new(8);
        let (greedy, other) = (FairShareKey::new(), FairShareKey::new());
        let mut held = Vec::new();
        while let Some(permit) = scheduler.acquire(&greedy).now_or_never() {
            held.push(permit);
        }
        assert_eq!(held.len(), 7);
        assert!(scheduler.acquire(&other).now_or_never().is_some());
    }

    #[tokio::test]
    async fn the_key_with_fewer_runs_is_next() {
        let scheduler = FairScheduler::new(4);
        let (greedy, other) = (FairShareKey::new(), FairShareKey::new());
        let mut held = vec![
            scheduler.acquire(&greedy).await,
            scheduler.acquire(&greedy).await,
            scheduler.acquire(&greedy).await,
        ];
        let _first = scheduler.acquire(&other).await;
        let many: Vec<_> = (0..5)
            .map(|_| {
                let (scheduler, greedy) = (scheduler.clone(), greedy.clone());
                tokio::spawn(async move { scheduler.acquire(&greedy).await })
            })
            .collect();
        tokio::task::yield_now().await;
        let second = tokio::spawn({
            let (scheduler, other) = (scheduler.clone(), other.clone());
            async move { scheduler.acquire(&other).await }
        });
        tokio::task::yield_now().await;
        held.pop();
        let second = second.await.unwrap();
        assert_eq!(second.rank, 2);
        assert!(many.iter().all(|waiting| !waiting.is_finished()));
        many.iter().for_each(|waiting| waiting.abort());
    }

    #[tokio::test]
    async fn leaving_the_queue_frees_the_slot() {
        let scheduler = FairScheduler::new(1);
        let key = FairShareKey::new();
        let held = scheduler.acquire(&key).await;
        let waiting = tokio::spawn({
            let (scheduler, key) = (scheduler.clone(), key.clone());
            async move { scheduler.acquire(&key).await }
        });
        tokio::task::yield_now().await;
        waiting.abort();
        let _ = waiting.await;
        drop(held);
        assert!(scheduler.acquire(&key).now_or_never().is_some());
        assert!(scheduler.lock().running.is_empty());
    }

    #[tokio::test]
    async fn further_runs_of_a_key_have_a_higher_niceness() {
        let scheduler = FairScheduler::new(32);
        let key = FairShareKey::new();
        let held = [
            scheduler.acquire(&key).await,
            scheduler.acquire(&key).await,
            scheduler.acquire(&key).await,
        ];
        assert_eq!(held.each_ref().map(RunPermit::niceness), [0, 5, 10]);
    }
}
