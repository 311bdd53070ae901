//! Open descriptors: the socket, what the event loop made for itself, and no more.

use std::os::fd::RawFd;

use super::process::set_limit;

/// Closes every descriptor of this process but one.
pub fn close_all_but(keep: RawFd) {
    let keep = u32::try_from(keep).unwrap_or(0);
    // SAFETY: nothing in this process owns a descriptor yet.
    unsafe {
        if keep > 0 {
            libc::close_range(0, keep - 1, 0);
        }
        libc::close_range(keep + 1, libc::c_uint::MAX, 0);
    }
}

/// No descriptor can be opened, received or duplicated any more. One, not zero: `poll` refuses
/// to look at more descriptors than the limit, and the socket is one.
pub fn forbid_more() -> Result<(), String> {
    set_limit(libc::RLIMIT_NOFILE, 1)
}
