//! Forking the [`PreforkedWorker`].

use std::fs;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;

use super::prefork::PreforkedWorker;
use super::reaper::Process;
use crate::worker;
use crate::worker_options::WorkerOptions;

impl PreforkedWorker {
    /// Forks a worker. Call it first thing in `main`, after `worker::run_if_requested`.
    ///
    /// `None` where forking fails or is no longer safe, because there are threads: a worker can
    /// still be started from its program.
    pub fn fork(options: WorkerOptions) -> Option<Self> {
        let own = ProcStat::read()?;
        if own.threads != 1 {
            return None;
        }
        let (ours, theirs) = StdUnixStream::pair().ok()?;
        ours.set_nonblocking(true).ok()?;
        let parent = libc::pid_t::try_from(std::process::id()).ok()?;
        // SAFETY: this process has one thread, so the child holds no lock of another thread.
        match unsafe { libc::fork() } {
            0 => {
                own.zero_argv_and_environ();
                worker::become_worker(parent, options, &OwnedFd::from(theirs))
            }
            pid if pid > 0 => {
                let process = Process(pid);
                process.lead_group();
                Some(Self {
                    options,
                    process: Some((process, ours)),
                })
            }
            _ => None,
        }
    }
}

/// This process in `/proc/self/stat`.
struct ProcStat {
    threads: u64,
    /// The addresses of argv and, behind it, environ.
    argv_and_environ: Range<usize>,
}

/// Indexes of fields in `/proc/self/stat`, counted from the state, which follows the name.
const NUM_THREADS: usize = 17;
const ARG_START: usize = 45;
const ENV_END: usize = 48;

impl ProcStat {
    fn read() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        Self::parse(&stat)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The name may contain parentheses and spaces.
        let (_, behind_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = behind_name.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse().ok();
        let argv_and_environ =
            usize::try_from(number(ARG_START)?).ok()?..usize::try_from(number(ENV_END)?).ok()?;
        // A kernel that hides addresses reports zero.
        (argv_and_environ.start > 0 && argv_and_environ.start < argv_and_environ.end).then_some(
            Self {
                threads: number(NUM_THREADS)?,
                argv_and_environ,
            },
        )
    }

    /// Zeroes argv and environ: the only secrets that the child can have inherited.
    fn zero_argv_and_environ(self) {
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
    fn the_kernel_reports_where_argv_is() {
        let own = ProcStat::read().unwrap();
        // SAFETY: nothing writes there while tests run.
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
    fn a_name_with_brackets_moves_nothing() {
        let fields: Vec<String> = (3..=52).map(|number| (number * 10).to_string()).collect();
        let own = ProcStat::parse(&format!("1 (a) b) {}", fields.join(" "))).unwrap();
        assert_eq!((own.threads, own.argv_and_environ), (200, 480..510));
    }

    #[test]
    fn hidden_addresses_are_not_used() {
        let fields = "0 ".repeat(50);
        assert!(ProcStat::parse(&format!("1 (pml) {fields}")).is_none());
        assert!(ProcStat::parse("1 (pml) S 1").is_none());
    }
}
