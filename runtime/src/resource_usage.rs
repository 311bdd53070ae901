//! CPU time and memory of a process, as the kernel reports them.

#[cfg(any(test, feature = "worker"))]
use std::time::Duration;

/// The most memory that a process has held.
pub fn peak_rss_bytes(usage: &libc::rusage) -> u64 {
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024
}

/// The most memory that this process has held.
#[cfg(feature = "worker")]
pub fn own_peak_rss_bytes() -> u64 {
    // SAFETY: all-zero bytes are a valid `rusage`, and the pointer is to a local that outlives the
    // call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    peak_rss_bytes(&usage)
}

/// CPU time of all threads of this process.
#[cfg(any(test, feature = "worker"))]
pub fn own_cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: every Linux has this clock, and the pointer is to a local that outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}
