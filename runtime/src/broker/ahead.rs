//! The one worker of a program that runs one script, begun before the program itself.
//!
//! Such a program would read its configuration, start a worker, and wait for the same binary to be
//! loaded a second time. In the first line of `main` the process holds nothing yet that a script
//! must not have, except its words and its environment; so it is copied there, the copy forgets
//! those two, and V8 starts beside everything else that the program does.

use std::fs;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;

use super::reaper::Process;
use crate::worker::{self, WorkerOptions};

/// A worker that was begun ahead. One that is not used is ended.
pub struct Ahead {
    pub(super) options: WorkerOptions,
    begun: Option<(Process, StdUnixStream)>,
}

impl Ahead {
    /// Begins a worker. Call it first thing in `main`, behind `worker::run_if_requested`.
    ///
    /// `None` where that cannot be done or is no longer safe; then a worker can still be started.
    pub fn begin(options: WorkerOptions) -> Option<Self> {
        let own = Own::read()?;
        if own.threads != 1 {
            return None;
        }
        let (ours, theirs) = StdUnixStream::pair().ok()?;
        ours.set_nonblocking(true).ok()?;
        let parent = libc::pid_t::try_from(std::process::id()).ok()?;
        // SAFETY: this process has one thread, so nothing in the copy waits for one that it lacks.
        match unsafe { libc::fork() } {
            0 => {
                own.forget_words();
                worker::become_one(parent, options, &OwnedFd::from(theirs))
            }
            number if number > 0 => {
                let process = Process(number);
                process.lead_group();
                Some(Self {
                    options,
                    begun: Some((process, ours)),
                })
            }
            _ => None,
        }
    }

    /// Hands the worker over to whoever ends it from now on.
    pub(super) fn take(mut self) -> Option<(Process, StdUnixStream)> {
        self.begun.take()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some((process, _)) = self.begun.take() {
            process.end();
        }
    }
}

/// What the kernel knows of this process.
struct Own {
    threads: u64,
    /// Where its words and, behind them, its environment lie.
    words: Range<usize>,
}

/// Counted from the state, which follows the name.
const THREADS: usize = 17;
const WORDS_BEGIN: usize = 45;
const ENVIRONMENT_END: usize = 48;

impl Own {
    fn read() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        Self::parse(&stat)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The name may hold anything, brackets and spaces too.
        let (_, behind_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = behind_name.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse().ok();
        let words = usize::try_from(number(WORDS_BEGIN)?).ok()?
            ..usize::try_from(number(ENVIRONMENT_END)?).ok()?;
        // A kernel that hides addresses says zero.
        (words.start > 0 && words.start < words.end).then_some(Self {
            threads: number(THREADS)?,
            words,
        })
    }

    /// Overwrites the words and the environment of this process.
    fn forget_words(self) {
        // SAFETY: the kernel put them there for this process to use as it likes, and says how far
        // they reach. This is the only thread, and holds no reference to any of them.
        unsafe {
            std::ptr::write_bytes(self.words.start as *mut u8, 0, self.words.len());
            libc::clearenv();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_where_the_words_are() {
        let own = Own::read().unwrap();
        // SAFETY: nobody writes there while tests run.
        let words =
            unsafe { std::slice::from_raw_parts(own.words.start as *const u8, own.words.len()) };
        let first = std::env::args().next().unwrap();
        assert!(words.starts_with(first.as_bytes()));
        assert!(own.threads >= 1);
    }

    #[test]
    fn a_name_with_brackets_moves_nothing() {
        let fields: Vec<String> = (3..=52).map(|number| (number * 10).to_string()).collect();
        let own = Own::parse(&format!("1 (a) b) {}", fields.join(" "))).unwrap();
        assert_eq!((own.threads, own.words), (200, 480..510));
    }

    #[test]
    fn hidden_addresses_are_not_used() {
        let fields = "0 ".repeat(50);
        assert!(Own::parse(&format!("1 (pml) {fields}")).is_none());
        assert!(Own::parse("1 (pml) S 1").is_none());
    }
}
