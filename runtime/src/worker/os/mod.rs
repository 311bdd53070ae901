//! Process-wide effects of a worker, in one place.
//!
//! - [`late_threads`] defines the symbol `pthread_create`. A program that links this crate with the
//!   feature `worker` has libc's function replaced: until [`late_threads::begin`], threads are held
//!   back in a worker; everywhere else the call is passed on to libc.
//! - [`fork_pages`] changes with `madvise` and `/proc/self/mem` which pages a fork inherits, in the
//!   template process alone.
//! - [`heap`] returns free memory of the C library's allocator to the kernel.

pub mod fork_pages;
pub mod heap;
pub mod late_threads;
