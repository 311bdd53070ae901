//! The budget.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::Reservation;

/// A total of bytes that owners share.
///
/// The rule is that of dynamic thresholds in switches with shared memory: after a reservation, its owner
/// holds no more than what stays free. One owner alone gets at most half of the total, two get a third
/// each, and `n` leave one part in `n + 1` to the next. No owner has to be registered, and what one does
/// not use is there for the others.
#[derive(Debug)]
pub struct FairBudget<K> {
    total: usize,
    state: Mutex<State<K>>,
    released: Notify,
}

#[derive(Debug)]
struct State<K> {
    used: usize,
    by_owner: BTreeMap<K, usize>,
}

impl<K: Ord + Clone> FairBudget<K> {
    /// A budget of `total` bytes.
    pub const fn new(total: usize) -> Self {
        Self {
            total,
            state: Mutex::new(State {
                used: 0,
                by_owner: BTreeMap::new(),
            }),
            released: Notify::const_new(),
        }
    }

    /// Reserves bytes; `None` if the owner would hold more than what stays free.
    pub fn try_reserve(&'static self, owner: &K, bytes: usize) -> Option<Reservation<K>> {
        let bytes = self.clamped(bytes);
        let mut state = self.lock();
        self.admits(&state, owner, bytes).then(|| {
            state.add(owner, bytes);
            Reservation::new(self, owner.clone(), bytes)
        })
    }

    /// Reserves bytes, and waits until there are enough.
    ///
    /// # Cancel safety
    /// Nothing is reserved by a future that was dropped.
    pub async fn reserve(&'static self, owner: &K, bytes: usize) -> Reservation<K> {
        loop {
            let released = self.released.notified();
            if let Some(reservation) = self.try_reserve(owner, bytes) {
                return reservation;
            }
            released.await;
        }
    }

    /// Counts bytes that are held already, whether they fit or not.
    pub fn hold(&self, owner: &K, bytes: usize) {
        self.lock().add(owner, bytes);
    }

    /// Returns bytes of [`FairBudget::hold`].
    pub fn release(&self, owner: &K, bytes: usize) {
        if bytes > 0 {
            self.lock().remove(owner, bytes);
            self.released.notify_waiters();
        }
    }

    /// Whether the owner could reserve so many more bytes now.
    pub fn fits(&self, owner: &K, bytes: usize) -> bool {
        self.admits(&self.lock(), owner, self.clamped(bytes))
    }

    /// More than half of the total could never be granted, and counts as half.
    fn clamped(&self, bytes: usize) -> usize {
        bytes.min(self.total / 2)
    }

    fn admits(&self, state: &State<K>, owner: &K, bytes: usize) -> bool {
        let held = state.by_owner.get(owner).copied().unwrap_or(0);
        let free = self.total.saturating_sub(state.used);
        held + bytes <= free.saturating_sub(bytes)
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        // The numbers are changed together and without a panic in between.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord + Clone> State<K> {
    fn add(&mut self, owner: &K, bytes: usize) {
        self.used += bytes;
        match self.by_owner.get_mut(owner) {
            Some(held) => *held += bytes,
            None => {
                self.by_owner.insert(owner.clone(), bytes);
            }
        }
    }

    fn remove(&mut self, owner: &K, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
        if let Some(held) = self.by_owner.get_mut(owner) {
            *held = held.saturating_sub(bytes);
            if *held == 0 {
                self.by_owner.remove(owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Budgets live as long as the process.
    fn budget(total: usize) -> &'static FairBudget<u8> {
        Box::leak(Box::new(FairBudget::new(total)))
    }

    #[test]
    fn one_owner_gets_half_and_leaves_the_next_one_its_share() {
        let budget = budget(120);
        let first = budget.try_reserve(&1, 60).expect("half");
        assert!(budget.try_reserve(&1, 1).is_none());
        let second = budget.try_reserve(&2, 30).expect("half of the rest");
        assert!(budget.try_reserve(&2, 1).is_none());
        assert!(budget.try_reserve(&3, 15).is_some());
        drop((first, second));
        assert!(budget.fits(&1, 60));
        assert!(budget.lock().by_owner.is_empty());
    }

    #[test]
    fn no_number_of_greedy_owners_leaves_nothing() {
        let budget = budget(1_000_000);
        let greedy: Vec<_> = (0..20)
            .flat_map(|owner| std::iter::from_fn(move || budget.try_reserve(&owner, 1_000)))
            .collect();
        assert!(greedy.len() > 900, "{}", greedy.len());
        assert!(budget.try_reserve(&99, 1).is_some());
    }

    #[test]
    fn what_is_held_beyond_the_total_is_counted() {
        let budget = budget(100);
        budget.hold(&1, 300);
        assert!(!budget.fits(&2, 1));
        budget.release(&1, 300);
        assert!(budget.fits(&2, 50));
        assert!(budget.fits(&2, 1_000), "more than half counts as half");
    }

    #[tokio::test(start_paused = true)]
    async fn a_reservation_waits_until_another_is_dropped() {
        let budget = budget(100);
        let held = budget.reserve(&1, 50).await;
        let release = async {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            drop(held);
        };
        let began = tokio::time::Instant::now();
        let (reserved, ()) = tokio::join!(budget.reserve(&1, 20), release);
        assert_eq!(began.elapsed().as_secs(), 1);
        drop(reserved);
        assert_eq!(budget.lock().used, 0);
    }
}
