//! Attributes of the process: the death signal of its parent, its privileges, its resource limits.

use std::io;

use crate::worker_options::WorkerOptions;

/// Memory for everything that is neither V8's heap nor counted buffers. An idle worker uses about
/// 150 MiB, most of it the range that V8 reserves for machine code; the rest is for its compiler, the
/// parser, and buffers that V8 does not allocate with our allocator.
const DATA_BESIDES_HEAP: u64 = 320 * 1024 * 1024;

/// The stack of the first thread, on which the parser and V8 recurse.
const STACK: u64 = 64 * 1024 * 1024;

/// Makes the kernel kill this process when its parent ends for any reason.
pub fn die_with(parent: libc::pid_t) {
    // SAFETY: these calls take only integers and touch no memory of this process; `_exit` does not
    // return.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // The parent may have ended before the line above.
        if libc::getppid() != parent {
            libc::_exit(1);
        }
    }
}

/// Prevents that this process gains privileges by `exec`, and that other processes of the user read
/// its memory.
pub fn forbid_privileges() -> Result<(), String> {
    // SAFETY: these options take only integers and touch no memory of this process.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        match libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error().to_string()),
        }
    }
}

/// Sets hard limits behind the worker's own: no core file, no file at all, and a limit of memory that
/// neither V8 nor the buffer allocator counts.
pub fn limit_resources(options: &WorkerOptions) -> Result<(), String> {
    let data = options
        .heap_bytes
        .saturating_add(options.buffer_bytes)
        .saturating_add(DATA_BESIDES_HEAP);
    set_limit(libc::RLIMIT_CORE, 0)?;
    set_limit(libc::RLIMIT_FSIZE, 0)?;
    set_limit(libc::RLIMIT_DATA, data)?;
    set_limit(libc::RLIMIT_STACK, STACK)
}

/// Sets a resource limit that cannot be raised again.
pub fn set_limit(resource: libc::__rlimit_resource_t, value: u64) -> Result<(), String> {
    let limit = libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: the pointer is to a local that outlives the call.
    match unsafe { libc::setrlimit(resource, &raw const limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error().to_string()),
    }
}
