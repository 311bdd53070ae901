//! Staying awake for what comes at once.
//!
//! A script that calls quick tools in a loop asks again as soon as it is answered. Between two
//! processes, to sleep and to be woken takes longer than either of them takes to speak, so both
//! look for the next message themselves for a moment. Where messages take their time, that is tried
//! ever less often.

use std::io;
use std::time::{Duration, Instant};

/// How long the other side takes if it has its answer at hand.
const SOON: Duration = Duration::from_micros(80);
/// Where messages take longer, one wait in `1 << MAX_VAIN` is without sleep.
const MAX_VAIN: u32 = 7;

/// Whether it is worth to stay spin.
#[derive(Debug, Default)]
pub struct SpinWait {
    /// When something went out, until its answer is waited for.
    sent_at: Option<Instant>,
    /// Waits without sleep that brought nothing, in a row.
    vain: u32,
    /// Waits to sleep through before the next without sleep.
    sleeps_left: u32,
}

impl SpinWait {
    /// Something went out that may be answered at once.
    pub fn request_sent(&mut self) {
        self.sent_at = Some(Instant::now());
    }

    /// Reads what comes at once, and says whether anything did. Whoever waits for the socket hears
    /// if nothing does, or nothing ever will.
    pub fn read(&mut self, mut read: impl FnMut() -> io::Result<usize>) -> bool {
        let Some(sent_at) = self.sent_at.take() else {
            return false;
        };
        if let Some(left) = self.sleeps_left.checked_sub(1) {
            self.sleeps_left = left;
            return false;
        }
        while sent_at.elapsed() < SOON {
            if matches!(read(), Ok(1..)) {
                self.vain = 0;
                return true;
            }
            std::hint::spin_loop();
        }
        self.vain = MAX_VAIN.min(self.vain + 1);
        self.sleeps_left = 1 << self.vain;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_read() {
        let mut spin = SpinWait::default();
        let word = || Ok(4);
        assert!(!spin.read(word), "nobody spoke");
        spin.request_sent();
        assert!(spin.read(word));
        assert!(!spin.read(word), "once for each time");
    }

    #[test]
    fn vain_waits_become_rare() {
        let mut spin = SpinWait::default();
        let began = Instant::now();
        for _ in 0..1_000 {
            spin.request_sent();
            assert!(!spin.read(|| Err(io::ErrorKind::WouldBlock.into())));
        }
        // A wait for each would take 80 ms; they are 14.
        let waited = SOON * 14;
        assert!(began.elapsed() < waited * 20, "{:?}", began.elapsed());
        assert_eq!(spin.vain, MAX_VAIN);
    }

    #[test]
    fn a_side_that_is_gone_is_not_read() {
        let mut spin = SpinWait::default();
        spin.request_sent();
        assert!(!spin.read(|| Ok(0)));
    }
}
