//! Runs work that takes long without holding up the event loop.

use std::collections::{HashSet, VecDeque};
use std::pin::Pin;
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::runtime::{Handle, RuntimeFlavor};

/// Text of this length is parsed in less than a millisecond.
pub const SMALL_TEXT: usize = 128 * 1024;

/// Works on large texts, for all servers and clients.
static LARGE: LazyLock<Turnstile> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Turnstile::new(cores.max(2))
});

/// Runs `work` on text of `bytes` bytes that `owner` sent. Large text is worked on while other threads run
/// the tasks of this one: one text of an owner at a time, so that no owner delays another.
pub fn off_loop<T>(owner: &str, bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes <= SMALL_TEXT || !can_block() {
        return work();
    }
    tokio::task::block_in_place(|| {
        let _turn = LARGE.enter(owner);
        work()
    })
}

/// Lets a few threads pass at a time, and only one of each owner.
struct Turnstile {
    most: usize,
    state: Mutex<State>,
    left: Condvar,
}

#[derive(Default)]
struct State {
    running: HashSet<String>,
    /// The owners of waiting threads with their tickets, the first one first.
    waiting: VecDeque<(u64, String)>,
    next_ticket: u64,
}

impl State {
    /// The first ticket whose owner has none running.
    fn next(&self, most: usize) -> Option<u64> {
        let has_room = self.running.len() < most;
        let is_free = |(_, owner): &&(u64, String)| !self.running.contains(owner);
        let first = self.waiting.iter().find(is_free);
        first.filter(|_| has_room).map(|(ticket, _)| *ticket)
    }
}

impl Turnstile {
    fn new(most: usize) -> Self {
        Self {
            most,
            state: Mutex::default(),
            left: Condvar::new(),
        }
    }

    /// Blocks the thread until its turn.
    fn enter<'t>(&'t self, owner: &'t str) -> Turn<'t> {
        let mut state = self.lock();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waiting.push_back((ticket, owner.to_owned()));
        while state.next(self.most) != Some(ticket) {
            state = self
                .left
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.retain(|(waiting, _)| *waiting != ticket);
        state.running.insert(owner.to_owned());
        // Another owner may be next.
        self.left.notify_all();
        Turn {
            turnstile: self,
            owner,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is changed without a panic in between.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn, until it is dropped.
struct Turn<'t> {
    turnstile: &'t Turnstile,
    owner: &'t str,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turnstile.lock().running.remove(self.owner);
        self.turnstile.left.notify_all();
    }
}

/// A future each poll of which may take long: other threads run the tasks of this one meanwhile.
pub struct PollOffLoop<F>(Pin<Box<F>>);

impl<F: Future> PollOffLoop<F> {
    /// Wraps a future.
    pub fn new(future: F) -> Self {
        Self(Box::pin(future))
    }
}

impl<F: Future> Future for PollOffLoop<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.0.as_mut();
        match can_block() {
            true => tokio::task::block_in_place(|| future.poll(context)),
            false => future.poll(context),
        }
    }
}

/// Whether this thread may block: a runtime with one thread has no other for its tasks.
fn can_block() -> bool {
    Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_large_texts_of_one_server_do_not_delay_those_of_another() {
        let turnstile = Turnstile::new(2);
        let held = turnstile.enter("greedy");
        let (entered, order) = mpsc::channel();
        let next = || order.recv_timeout(Duration::from_secs(20)).unwrap();
        std::thread::scope(|scope| {
            for owner in ["greedy", "greedy", "greedy", "other"] {
                let (entered, turnstile) = (entered.clone(), &turnstile);
                scope.spawn(move || {
                    let _turn = turnstile.enter(owner);
                    entered.send(owner).unwrap();
                });
            }
            assert_eq!(next(), "other");
            assert!(order.try_recv().is_err(), "one text of an owner at a time");
            drop(held);
            for _ in 0..3 {
                assert_eq!(next(), "greedy");
            }
        });
        assert!(turnstile.lock().running.is_empty());
    }
}
