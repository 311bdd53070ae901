//! Waking a thread later. To wake one takes the kernel as long as much of what a small script does, on
//! the time of whoever wakes it; to set a timer that does it takes a tenth of that.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Wakes a thread after a time.
pub struct TimerFd(OwnedFd);

impl TimerFd {
    pub fn new() -> io::Result<Self> {
        // SAFETY: plain system call.
        let timer = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
        if timer < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was made just now, and nobody else has it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(timer) }))
    }

    /// Rings once after this time, in place of a time that was set before.
    pub fn arm(&self, time: Duration) {
        // A time of zero would mean never.
        let time = time.max(Duration::from_nanos(1));
        let never = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let once = libc::itimerspec {
            it_interval: never,
            it_value: libc::timespec {
                tv_sec: time.as_secs().cast_signed(),
                tv_nsec: time.subsec_nanos().into(),
            },
        };
        // SAFETY: the timer is open as long as this lives, and the time is a valid one.
        unsafe {
            libc::timerfd_settime(self.0.as_raw_fd(), 0, &raw const once, std::ptr::null_mut())
        };
    }

    /// Returns when the bell has rung since the last time, or for no reason.
    pub fn wait(&self) {
        let mut rung = 0_u64;
        // SAFETY: a timer is read in pieces of this size.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut rung).cast(), size_of::<u64>()) };
    }
}
