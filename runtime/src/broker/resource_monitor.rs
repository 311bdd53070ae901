//! The memory and CPU time of a worker, sampled from the kernel.
//!
//! Workers enforce their own limits. A compromised worker does not, so the broker also samples RSS and
//! CPU time from outside.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use pml_protocol::Limits;
use pml_protocol::{ErrorKind, RunError};

/// CPU time that a worker may use beyond its limit: it notices the limit late, and several threads
/// may run until then.
const CPU_GRACE: Duration = Duration::from_secs(1);
/// Memory that a worker may hold besides its heap and its buffers.
const MEMORY_BESIDES: u64 = 112 * 1024 * 1024;

/// Samples the memory and CPU time of a process.
pub struct ResourceMonitor {
    /// `/proc/PID/statm`.
    statm: File,
    page_bytes: u64,
    clock: libc::clockid_t,
    /// CPU time that was used before the script began.
    cpu_before: Option<Duration>,
}

impl ResourceMonitor {
    /// `None` where the kernel does not show the process.
    pub fn of(pid: libc::pid_t) -> Option<Self> {
        let statm = File::open(format!("/proc/{pid}/statm")).ok()?;
        let mut clock = 0;
        // SAFETY: the pointer is to a local that outlives the call; `sysconf` takes any integer.
        let (has_clock, page) = unsafe {
            (
                libc::clock_getcpuclockid(pid, &raw mut clock) == 0,
                libc::sysconf(libc::_SC_PAGESIZE),
            )
        };
        has_clock.then(|| Self {
            statm,
            page_bytes: u64::try_from(page).unwrap_or(4096),
            clock,
            cpu_before: None,
        })
    }

    /// Starts counting the CPU time of the script.
    pub fn begin(&mut self) {
        self.cpu_before = self.cpu_time();
    }

    /// The error of the limit that was crossed, if one was.
    pub fn check(&self, limits: &Limits) -> Option<RunError> {
        self.check_memory(limits)
            .or_else(|| self.check_cpu_time(limits))
    }

    /// Limits the RSS. It includes memory that is neither V8's heap nor counted buffers: resizable
    /// buffers, compiled code, messages being sent.
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

    fn check_cpu_time(&self, limits: &Limits) -> Option<RunError> {
        let limit = Duration::from_millis(limits.cpu_ms);
        let used = self.cpu_time()?.saturating_sub(self.cpu_before?);
        (used > limit + CPU_GRACE).then(|| {
            let millis = limit.as_millis();
            RunError::new(
                ErrorKind::Cpu,
                format!("the script used its {millis} ms of CPU time"),
            )
        })
    }

    /// CPU time of all threads so far. `None` when the process is gone.
    fn cpu_time(&self) -> Option<Duration> {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the pointer is to a local that outlives the call. The clock of a process that is gone
        // is an error.
        let is_read = unsafe { libc::clock_gettime(self.clock, &raw mut time) == 0 };
        let seconds = u64::try_from(time.tv_sec).ok()?;
        let nanos = u32::try_from(time.tv_nsec).ok()?;
        is_read.then(|| Duration::new(seconds, nanos))
    }

    /// The current RSS. `None` when the process is gone.
    fn resident_bytes(&self) -> Option<u64> {
        let mut text = [0; 128];
        let length = self.statm.read_at(&mut text, 0).ok()?;
        let sizes = std::str::from_utf8(&text[..length]).ok()?;
        let pages: u64 = sizes.split(' ').nth(1)?.parse().ok()?;
        Some(pages * self.page_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource_usage::own_cpu_time;

    fn own() -> ResourceMonitor {
        ResourceMonitor::of(std::process::id().cast_signed()).unwrap()
    }

    #[test]
    fn memory_and_cpu_time_of_this_process_are_read() {
        let monitor = own();
        assert!(monitor.resident_bytes().unwrap() > 1024 * 1024);
        assert!(monitor.cpu_time().unwrap() > Duration::ZERO);
    }

    #[test]
    fn memory_has_a_limit() {
        let mut monitor = own();
        assert!(monitor.check(&Limits::default()).is_none());
        // Pages as large as the limit.
        monitor.page_bytes = 1024 * 1024 * 1024;
        let crossed = monitor.check(&Limits::default()).unwrap();
        assert_eq!(crossed.kind, ErrorKind::Memory);
    }

    #[test]
    fn cpu_time_counts_from_the_beginning_of_the_script() {
        let mut monitor = own();
        let limits = Limits {
            cpu_ms: 0,
            ..Limits::default()
        };
        // Uses more than the grace before the script begins.
        let used = || own_cpu_time() > CPU_GRACE + CPU_GRACE / 10;
        while !used() {
            std::hint::spin_loop();
        }
        monitor.begin();
        assert!(monitor.check(&limits).is_none());
        monitor.cpu_before = Some(Duration::ZERO);
        assert_eq!(monitor.check(&limits).unwrap().kind, ErrorKind::Cpu);
    }

    #[test]
    fn a_process_that_is_gone_has_no_monitor() {
        assert!(ResourceMonitor::of(libc::pid_t::MAX).is_none());
    }
}
