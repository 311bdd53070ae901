//! File descriptors: only the socket, and those that the event loop opens for itself.

use std::os::fd::RawFd;

use super::process::set_limit;

/// Closes every descriptor of this process but one.
pub fn close_all_but(keep: RawFd) {
    let keep = u32::try_from(keep).unwrap_or(0);
    // SAFETY: called first thing in `main`: no object in this process owns a descriptor yet.
    unsafe {
        if keep > 0 {
            libc::close_range(0, keep - 1, 0);
        }
        libc::close_range(keep + 1, libc::c_uint::MAX, 0);
    }
}

/// Prevents that a descriptor is opened, received or duplicated. The limit is one, not zero: `poll`
/// fails with more entries than the limit, and the worker polls its socket.
pub fn forbid_more() -> Result<(), String> {
    set_limit(libc::RLIMIT_NOFILE, 1)
}
