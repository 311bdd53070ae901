//! What a worker uses, as the kernel sees it.
//!
//! The worker keeps its limits itself. One that does not is no longer itself, so they are looked at
//! from outside as well.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use pml_protocol::Limits;
use pml_protocol::{ErrorKind, RunError};

/// What a worker may use of the processor beyond its limit: it may be slow to notice, on several
/// threads.
const CPU_GRACE: Duration = Duration::from_secs(1);
/// What a worker may hold besides its heap and its buffers.
const MEMORY_BESIDES: u64 = 112 * 1024 * 1024;

/// Reads what a process uses.
pub struct ResourceMonitor {
    sizes: File,
    page_bytes: u64,
    clock: libc::clockid_t,
    /// Processor time that was used before the script began.
    cpu_before: Option<Duration>,
}

impl ResourceMonitor {
    /// `None` where the process cannot be seen.
    pub fn of(process: libc::pid_t) -> Option<Self> {
        let sizes = File::open(format!("/proc/{process}/statm")).ok()?;
        let mut clock = 0;
        // SAFETY: plain system calls; the clock is ours to fill.
        let (has_clock, page) = unsafe {
            (
                libc::clock_getcpuclockid(process, &raw mut clock) == 0,
                libc::sysconf(libc::_SC_PAGESIZE),
            )
        };
        has_clock.then(|| Self {
            sizes,
            page_bytes: u64::try_from(page).unwrap_or(4096),
            clock,
            cpu_before: None,
        })
    }

    /// The script begins now.
    pub fn begin(&mut self) {
        self.cpu_before = self.cpu_time();
    }

    /// The limit that was crossed, if one was.
    pub fn check(&self, limits: &Limits) -> Option<RunError> {
        self.check_memory(limits)
            .or_else(|| self.check_processor(limits))
    }

    /// Some memory is neither V8's heap nor our buffers: resizable buffers, compiled code, text on
    /// its way out. All of it together has a limit too.
    fn check_memory(&self, limits: &Limits) -> Option<RunError> {
        let limit = limits.heap_bytes + limits.buffer_bytes + MEMORY_BESIDES;
        (self.resident_bytes()? > limit).then(|| {
            let mib = limit / (1024 * 1024);
            RunError::new(
                ErrorKind::Memory,
                format!("the script's process holds more than {mib} MiB"),
            )
        })
    }

    fn check_processor(&self, limits: &Limits) -> Option<RunError> {
        let limit = Duration::from_millis(limits.cpu_ms);
        let used = self.cpu_time()?.saturating_sub(self.cpu_before?);
        (used > limit + CPU_GRACE).then(|| {
            let millis = limit.as_millis();
            RunError::new(
                ErrorKind::Cpu,
                format!("the script used its {millis} ms of processor time"),
            )
        })
    }

    /// Processor time of all threads so far. `None` when the process is gone.
    fn cpu_time(&self) -> Option<Duration> {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the time is ours to fill.
        let is_read = unsafe { libc::clock_gettime(self.clock, &raw mut time) == 0 };
        let seconds = u64::try_from(time.tv_sec).ok()?;
        let nanos = u32::try_from(time.tv_nsec).ok()?;
        is_read.then(|| Duration::new(seconds, nanos))
    }

    /// Memory that it holds right now. `None` when the process is gone.
    fn resident_bytes(&self) -> Option<u64> {
        let mut text = [0; 128];
        let length = self.sizes.read_at(&mut text, 0).ok()?;
        let sizes = std::str::from_utf8(&text[..length]).ok()?;
        let pages: u64 = sizes.split(' ').nth(1)?.parse().ok()?;
        Some(pages * self.page_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::process_cpu_time;

    fn own() -> ResourceMonitor {
        ResourceMonitor::of(std::process::id().cast_signed()).unwrap()
    }

    #[test]
    fn what_this_process_uses_is_seen() {
        let gauge = own();
        assert!(gauge.resident_bytes().unwrap() > 1024 * 1024);
        assert!(gauge.cpu_time().unwrap() > Duration::ZERO);
    }

    #[test]
    fn memory_has_a_limit() {
        let mut gauge = own();
        assert!(gauge.check(&Limits::default()).is_none());
        // Pages as large as the limit.
        gauge.page_bytes = 1024 * 1024 * 1024;
        let crossed = gauge.check(&Limits::default()).unwrap();
        assert_eq!(crossed.kind, ErrorKind::Memory);
    }

    #[test]
    fn processor_time_counts_from_the_beginning() {
        let mut gauge = own();
        let limits = Limits {
            cpu_ms: 0,
            ..Limits::default()
        };
        // So much was used before that the grace is long over.
        let used = || process_cpu_time() > CPU_GRACE + CPU_GRACE / 10;
        while !used() {
            std::hint::spin_loop();
        }
        gauge.begin();
        assert!(gauge.check(&limits).is_none());
        gauge.cpu_before = Some(Duration::ZERO);
        assert_eq!(gauge.check(&limits).unwrap().kind, ErrorKind::Cpu);
    }

    #[test]
    fn a_process_that_is_gone_has_no_gauge() {
        assert!(ResourceMonitor::of(libc::pid_t::MAX).is_none());
    }
}
