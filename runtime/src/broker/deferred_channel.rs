//! A channel to a thread whose messages need not be read at once.
//!
//! The sender says how soon a message must be read, and arms a timer for that time in place of waking
//! the receiver: it has a reply to write first, and a wake-up would delay that.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::timer_fd::TimerFd;

/// A channel with any number of senders and one receiver.
pub fn deferred_channel<T>() -> io::Result<(Sender<T>, Receiver<T>)> {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            messages: VecDeque::new(),
            wakes_at: None,
            is_closed: false,
        }),
        timer: TimerFd::new()?,
    });
    let sender = Sender {
        open: Arc::new(Open(shared.clone())),
    };
    Ok((sender, Receiver { shared }))
}

/// Sends messages. Can be cloned.
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

/// Closes the channel when it is dropped with the last sender.
struct Open<T>(Arc<Shared<T>>);

/// Receives messages, in the order in which they were sent.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    timer: TimerFd,
}

struct State<T> {
    messages: VecDeque<T>,
    /// When the timer is set to expire.
    wakes_at: Option<Instant>,
    /// All senders are gone, or the receiver is.
    is_closed: bool,
}

/// The result of [`Receiver::receive`].
#[derive(Debug, PartialEq, Eq)]
pub enum Received<T> {
    Message(T),
    /// No message arrived until the given time.
    TimedOut,
    /// Every sender is gone, and all messages were read.
    Closed,
}

impl<T> Sender<T> {
    /// Sends a message that is read after `within` at the latest, sooner if the receiver is awake.
    /// Returns the message if the receiver is gone.
    pub fn send(&self, message: T, within: Duration) -> Result<(), T> {
        let shared = &self.open.0;
        let mut state = shared.lock();
        if state.is_closed {
            return Err(message);
        }
        state.messages.push_back(message);
        shared.wake_at(&mut state, Instant::now() + within);
        Ok(())
    }
}

impl<T> Drop for Open<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        self.0.wake_at(&mut state, Instant::now());
    }
}

impl<T> Receiver<T> {
    /// Waits for a message, until `until` at the latest.
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
                    return Received::TimedOut;
                }
                self.shared.wake_at(&mut state, until);
            }
            drop(state);
            self.shared.timer.wait();
            state = self.shared.lock();
            state.wakes_at = None;
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
    /// Sets the timer to `at`, unless it is set to an earlier time.
    fn wake_at(&self, state: &mut State<T>, at: Instant) {
        if state.wakes_at.is_none_or(|set| at < set) {
            state.wakes_at = Some(at);
            self.timer.arm(at.saturating_duration_since(Instant::now()));
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
    fn messages_are_read_in_order_and_then_the_end() {
        let (sender, receiver) = deferred_channel().unwrap();
        for message in 0..3 {
            sender.send(message, SOON).unwrap();
        }
        drop(sender);
        let read: Vec<_> = (0..4).map(|_| receiver.receive(None)).collect();
        let whole = [0, 1, 2].map(Received::Message);
        assert_eq!(read[..3], whole);
        assert_eq!(read[3], Received::Closed);
    }

    #[test]
    fn a_sleeping_receiver_wakes_in_time() {
        let (sender, receiver) = deferred_channel().unwrap();
        let thread = std::thread::spawn(move || {
            let began = Instant::now();
            (receiver.receive(None), began.elapsed())
        });
        std::thread::sleep(SOON);
        sender.send('a', SOON).unwrap();
        let (read, waited) = thread.join().unwrap();
        assert_eq!(read, Received::Message('a'));
        assert!(waited >= SOON, "{waited:?}");
    }

    #[test]
    fn an_urgent_message_does_not_wait_for_a_deferred_one() {
        let (sender, receiver) = deferred_channel().unwrap();
        let thread = std::thread::spawn(move || {
            let first = receiver.receive(None);
            (first, receiver.receive(None))
        });
        std::thread::sleep(SOON);
        let began = Instant::now();
        sender.send('a', Duration::from_secs(60)).unwrap();
        sender.send('b', Duration::ZERO).unwrap();
        let read = thread.join().unwrap();
        assert_eq!(read, (Received::Message('a'), Received::Message('b')));
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn receiving_times_out() {
        let (sender, receiver) = deferred_channel::<()>().unwrap();
        let until = Instant::now() + SOON;
        assert_eq!(receiver.receive(Some(until)), Received::TimedOut);
        assert!(Instant::now() >= until);
        drop(receiver);
        assert_eq!(sender.send((), SOON), Err(()));
    }
}
