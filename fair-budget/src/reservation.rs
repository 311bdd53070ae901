//! A part of a budget.

use crate::FairBudget;

/// Reserved bytes, until this is dropped.
#[derive(Debug)]
#[must_use = "the bytes are free again when this is dropped"]
pub struct Reservation<K: Ord + Clone + 'static> {
    budget: &'static FairBudget<K>,
    owner: K,
    bytes: usize,
}

impl<K: Ord + Clone> Reservation<K> {
    pub(crate) fn new(budget: &'static FairBudget<K>, owner: K, bytes: usize) -> Self {
        Self {
            budget,
            owner,
            bytes,
        }
    }

    /// How much is reserved.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<K: Ord + Clone> Drop for Reservation<K> {
    fn drop(&mut self) {
        self.budget.release(&self.owner, self.bytes);
    }
}
