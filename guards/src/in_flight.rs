//! The shape of a run: how deep its chain of calls is, and how many of its calls are under way.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a call is in its run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallShape {
    /// Calls one after the other, this one included: a call follows those that had ended when it began.
    pub chain: u32,
    /// Calls under way, this one included.
    pub in_flight: u32,
}

/// The calls of one run, with those of its plans. Cheap to clone; clones are the same run.
#[derive(Debug, Clone, Default)]
pub struct RunShape(Arc<Calls>);

#[derive(Debug, Default)]
struct Calls {
    in_flight: AtomicU32,
    /// The longest chain of calls that have ended.
    ended: Mutex<u32>,
}

/// A call under way. Dropping it ends it.
#[derive(Debug)]
pub struct InFlight {
    run: RunShape,
    chain: u32,
}

impl RunShape {
    /// A call begins.
    pub fn begin(&self) -> (CallShape, InFlight) {
        let chain = *self.ended() + 1;
        let in_flight = self.0.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        let run = self.clone();
        (CallShape { chain, in_flight }, InFlight { run, chain })
    }

    fn ended(&self) -> std::sync::MutexGuard<'_, u32> {
        // A number is replaced in one step.
        self.0.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.run.0.in_flight.fetch_sub(1, Ordering::Relaxed);
        let mut ended = self.run.ended();
        *ended = (*ended).max(self.chain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_at_once_are_one_link_of_the_chain_and_calls_in_turn_are_several() {
        let run = RunShape::default();
        let (one, first) = run.begin();
        let (other, second) = run.clone().begin();
        assert_eq!((one.chain, other.chain), (1, 1));
        assert_eq!((one.in_flight, other.in_flight), (1, 2));
        drop((first, second));
        let (third, _open) = run.begin();
        assert_eq!((third.chain, third.in_flight), (2, 1));
    }
}
