//! Messages to a thread that have a little time.
//!
//! A message says how soon it must be read, and a bell rings by then: whoever sends it has an answer
//! to give first.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::timer_fd::TimerFd;

/// A way to send messages, which can be cloned, and the one who reads them.
pub fn deferred_channel<T>() -> io::Result<(Sender<T>, Receiver<T>)> {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            messages: VecDeque::new(),
            rings_at: None,
            is_closed: false,
        }),
        bell: TimerFd::new()?,
    });
    let sender = Sender {
        open: Arc::new(Open(shared.clone())),
    };
    Ok((sender, Receiver { shared }))
}

pub struct Sender<T> {
    open: Arc<Open<T>>,
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self {
            open: self.open.clone(),
        }
    }
}

/// Dropped with the last sender.
struct Open<T>(Arc<Shared<T>>);

pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    bell: TimerFd,
}

struct State<T> {
    messages: VecDeque<T>,
    /// When the bell rings next.
    rings_at: Option<Instant>,
    /// One of the two sides is gone.
    is_closed: bool,
}

/// What comes of waiting for a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Received<T> {
    Message(T),
    TimeUp,
    /// Every sender is gone, and everything they sent was read.
    Closed,
}

impl<T> Sender<T> {
    /// Sends a message that is read within that time; sooner if the reader is awake. Gives it back
    /// if there is no reader.
    pub fn send(&self, message: T, within: Duration) -> Result<(), T> {
        let shared = &self.open.0;
        let mut state = shared.lock();
        if state.is_closed {
            return Err(message);
        }
        state.messages.push_back(message);
        shared.ring_at(&mut state, Instant::now() + within);
        Ok(())
    }
}

impl<T> Drop for Open<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        self.0.ring_at(&mut state, Instant::now());
    }
}

impl<T> Receiver<T> {
    /// Waits for a message, no longer than `until`.
    pub fn receive(&self, until: Option<Instant>) -> Received<T> {
        let mut state = self.shared.lock();
        loop {
            if let Some(message) = state.messages.pop_front() {
                return Received::Message(message);
            }
            if state.is_closed {
                return Received::Closed;
            }
            if let Some(until) = until {
                if until <= Instant::now() {
                    return Received::TimeUp;
                }
                self.shared.ring_at(&mut state, until);
            }
            drop(state);
            self.shared.bell.wait();
            state = self.shared.lock();
            state.rings_at = None;
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_closed = true;
        state.messages.clear();
    }
}

impl<T> Shared<T> {
    fn ring_at(&self, state: &mut State<T>, at: Instant) {
        if state.rings_at.is_none_or(|set| at < set) {
            state.rings_at = Some(at);
            self.bell.arm(at.saturating_duration_since(Instant::now()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    #[test]
    fn messages_are_read_in_their_order_and_then_the_end() {
        let (sender, receiver) = deferred_channel().unwrap();
        for number in 0..3 {
            sender.send(number, SOON).unwrap();
        }
        drop(sender);
        let read: Vec<_> = (0..4).map(|_| receiver.receive(None)).collect();
        let whole = [0, 1, 2].map(Received::Message);
        assert_eq!(read[..3], whole);
        assert_eq!(read[3], Received::Closed);
    }

    #[test]
    fn a_reader_that_sleeps_wakes_in_time() {
        let (sender, receiver) = deferred_channel().unwrap();
        let reader = std::thread::spawn(move || {
            let began = Instant::now();
            (receiver.receive(None), began.elapsed())
        });
        std::thread::sleep(SOON);
        sender.send('a', SOON).unwrap();
        let (read, waited) = reader.join().unwrap();
        assert_eq!(read, Received::Message('a'));
        assert!(waited >= SOON, "{waited:?}");
    }

    #[test]
    fn a_message_in_a_hurry_does_not_wait_for_one_that_has_time() {
        let (sender, receiver) = deferred_channel().unwrap();
        let reader = std::thread::spawn(move || {
            let first = receiver.receive(None);
            (first, receiver.receive(None))
        });
        std::thread::sleep(SOON);
        let began = Instant::now();
        sender.send('a', Duration::from_secs(60)).unwrap();
        sender.send('b', Duration::ZERO).unwrap();
        let read = reader.join().unwrap();
        assert_eq!(read, (Received::Message('a'), Received::Message('b')));
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn waiting_ends_when_its_time_is_up() {
        let (sender, receiver) = deferred_channel::<()>().unwrap();
        let until = Instant::now() + SOON;
        assert_eq!(receiver.receive(Some(until)), Received::TimeUp);
        assert!(Instant::now() >= until);
        drop(receiver);
        assert_eq!(sender.send((), SOON), Err(()));
    }
}
