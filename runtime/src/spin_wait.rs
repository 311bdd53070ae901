//! Spinning on a socket for a message that is about to arrive.
//!
//! A script that calls quick tools in a loop sends its next request as soon as it has an answer. For
//! two processes, sleeping and being woken takes longer than producing either message, so both sides
//! first poll the socket for a moment. Where messages take longer, spinning backs off exponentially.

use std::io;
use std::time::{Duration, Instant};

/// How long the other side takes if it has its answer at hand.
const SPIN_TIME: Duration = Duration::from_micros(80);
/// Where messages take longer, one wait in `1 << MAX_MISSES` spins.
const MAX_MISSES: u32 = 7;

/// Decides whether a wait spins, and spins.
#[derive(Debug, Default)]
pub struct SpinWait {
    /// When a message was sent, until the wait for its answer begins.
    sent_at: Option<Instant>,
    /// Consecutive spins in which nothing arrived, up to [`MAX_MISSES`].
    misses: u32,
    /// Waits to skip before the next spin.
    skips_left: u32,
}

impl SpinWait {
    /// Notes that a message was sent that may be answered at once.
    pub fn request_sent(&mut self) {
        self.sent_at = Some(Instant::now());
    }

    /// Spins on `read` if a message was sent. Returns whether bytes were read; if not, the caller
    /// waits for the socket, and learns there of its end or its error.
    pub fn read(&mut self, mut read: impl FnMut() -> io::Result<usize>) -> bool {
        let Some(sent_at) = self.sent_at.take() else {
            return false;
        };
        if let Some(left) = self.skips_left.checked_sub(1) {
            self.skips_left = left;
            return false;
        }
        while sent_at.elapsed() < SPIN_TIME {
            if matches!(read(), Ok(1..)) {
                self.misses = 0;
                return true;
            }
            std::hint::spin_loop();
        }
        self.misses = MAX_MISSES.min(self.misses + 1);
        self.skips_left = 1 << self.misses;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_have_arrived_are_read() {
        let mut spin = SpinWait::default();
        let read = || Ok(4);
        assert!(!spin.read(read), "nothing was sent");
        spin.request_sent();
        assert!(spin.read(read));
        assert!(!spin.read(read), "one spin for each message sent");
    }

    #[test]
    fn spins_without_a_message_become_rare() {
        let mut spin = SpinWait::default();
        let began = Instant::now();
        for _ in 0..1_000 {
            spin.request_sent();
            assert!(!spin.read(|| Err(io::ErrorKind::WouldBlock.into())));
        }
        // A spin for each would take 80 ms; they are 14.
        let spun = SPIN_TIME * 14;
        assert!(began.elapsed() < spun * 20, "{:?}", began.elapsed());
        assert_eq!(spin.misses, MAX_MISSES);
    }

    #[test]
    fn the_end_of_the_socket_is_left_to_the_caller() {
        let mut spin = SpinWait::default();
        spin.request_sent();
        assert!(!spin.read(|| Ok(0)));
    }
}
