//! What the kernel knows about the process: its parent, its privileges, its limits.

use std::io;

use crate::worker_options::WorkerOptions;

/// Room for everything that is neither V8's heap nor array buffers. An idle worker counts about
/// 150 MiB, most of it the range that V8 keeps for machine code; the rest is for its compiler,
/// the parser, and buffers that V8 does not ask our allocator for.
const DATA_BESIDES_HEAP: u64 = 320 * 1024 * 1024;

/// The parser and V8 recurse on the first thread; the kernel keeps this much address space free
/// below it.
const STACK: u64 = 64 * 1024 * 1024;

/// Has the kernel kill this process when its parent dies, however it dies.
pub fn die_with(parent: libc::pid_t) {
    // SAFETY: plain system calls.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // The parent may have died before the line above.
        if libc::getppid() != parent {
            libc::_exit(1);
        }
    }
}

/// No program this process might start could gain rights, and nobody may inspect its memory.
pub fn forbid_privileges() -> Result<(), String> {
    // SAFETY: plain system calls.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        match libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error().to_string()),
        }
    }
}

/// Hard limits behind the soft ones: no core file, no file at all, and an end to memory that
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

pub fn set_limit(resource: libc::__rlimit_resource_t, value: u64) -> Result<(), String> {
    let limit = libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: the structure is filled and outlives the call.
    match unsafe { libc::setrlimit(resource, &raw const limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error().to_string()),
    }
}
