//! This process in `/proc/self/stat`.

use std::fs;
use std::ops::Range;

/// The threads of this process, and where the kernel has put its argv and environ.
pub struct ProcStat {
    /// The number of its threads.
    pub threads: u64,
    /// The addresses of argv and, behind it, environ.
    argv_and_environ: Range<usize>,
    /// The addresses of environ alone.
    environ: Range<usize>,
}

/// Indexes of fields in `/proc/self/stat`, counted from the state, which follows the name.
const NUM_THREADS: usize = 17;
const ARG_START: usize = 45;
const ENV_START: usize = 47;
const ENV_END: usize = 48;

impl ProcStat {
    /// `None` where the kernel hides the process or its addresses.
    pub fn read() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        Self::parse(&stat)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The name may contain parentheses and spaces.
        let (_, after_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        let field = |index: usize| fields.get(index)?.parse().ok();
        let address = |index: usize| usize::try_from(field(index)?).ok();
        let (start, environ, end) = (address(ARG_START)?, address(ENV_START)?, address(ENV_END)?);
        // A kernel that hides addresses reports zero.
        (start > 0 && start < environ && environ <= end).then_some(Self {
            threads: field(NUM_THREADS)?,
            argv_and_environ: start..end,
            environ: environ..end,
        })
    }

    /// Zeroes the memory that the kernel shows as `/proc/PID/environ`.
    ///
    /// # Safety
    /// This is the only thread, and nothing refers to the memory any more: the C library's `environ`
    /// points elsewhere.
    pub unsafe fn zero_environ(&self) {
        // SAFETY: the range is the process's own stack memory, as the kernel reports it; the caller
        // promises that nothing refers to it.
        unsafe {
            std::ptr::write_bytes(self.environ.start as *mut u8, 0, self.environ.len());
        }
    }

    /// Zeroes argv and environ: the only secrets that the child can have inherited.
    pub fn zero_argv_and_environ(self) {
        // SAFETY: the range is the process's own stack memory, as the kernel reports it. This is the
        // only thread, and it holds no reference into the range.
        unsafe {
            std::ptr::write_bytes(
                self.argv_and_environ.start as *mut u8,
                0,
                self.argv_and_environ.len(),
            );
            libc::clearenv();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_reports_the_address_of_argv() {
        let own = ProcStat::read().unwrap();
        // SAFETY: the range is mapped for as long as the process lives, and no test writes to it.
        let argv_and_environ = unsafe {
            std::slice::from_raw_parts(
                own.argv_and_environ.start as *const u8,
                own.argv_and_environ.len(),
            )
        };
        let first = std::env::args().next().unwrap();
        assert!(argv_and_environ.starts_with(first.as_bytes()));
        assert!(own.threads >= 1);
    }

    #[test]
    fn a_name_with_parentheses_shifts_no_field() {
        let fields: Vec<String> = (3..=52).map(|number| (number * 10).to_string()).collect();
        let own = ProcStat::parse(&format!("1 (a) b) {}", fields.join(" "))).unwrap();
        assert_eq!((own.threads, own.argv_and_environ), (200, 480..510));
        assert_eq!(own.environ, 500..510);
    }

    #[test]
    fn hidden_addresses_are_not_used() {
        let fields = "0 ".repeat(50);
        assert!(ProcStat::parse(&format!("1 (pml) {fields}")).is_none());
        assert!(ProcStat::parse("1 (pml) S 1").is_none());
    }
}
