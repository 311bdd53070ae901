//! Deferred thread wake-up through a timerfd. A direct wake-up is paid for by the caller and costs as
//! much as a good part of a small run; arming a timer costs a tenth of that.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// A one-shot timer that a thread can wait for.
pub struct TimerFd(OwnedFd);

impl TimerFd {
    pub fn new() -> io::Result<Self> {
        // SAFETY: takes two integers and touches no memory of this process.
        let timer = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
        if timer < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was created in the line above and has no other owner.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(timer) }))
    }

    /// Sets the timer to expire once after `delay`. Replaces an earlier setting.
    pub fn arm(&self, delay: Duration) {
        // Zero would disarm the timer.
        let delay = delay.max(Duration::from_nanos(1));
        let no_interval = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let once = libc::itimerspec {
            it_interval: no_interval,
            it_value: libc::timespec {
                tv_sec: delay.as_secs().cast_signed(),
                tv_nsec: delay.subsec_nanos().into(),
            },
        };
        // SAFETY: `self` keeps the timer open. `once` is a local that outlives the call, and the old
        // setting may be null.
        unsafe {
            libc::timerfd_settime(self.0.as_raw_fd(), 0, &raw const once, std::ptr::null_mut())
        };
    }

    /// Blocks until the timer has expired since the last call. Spurious wake-ups are possible.
    pub fn wait(&self) {
        let mut expirations = 0_u64;
        // SAFETY: a timerfd is read in units of 8 bytes, into a local of that size.
        unsafe {
            libc::read(
                self.0.as_raw_fd(),
                (&raw mut expirations).cast(),
                size_of::<u64>(),
            )
        };
    }
}
