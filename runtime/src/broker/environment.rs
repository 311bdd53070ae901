//! The environment of the broker, out of the reach of the processes that it starts.
//!
//! A server gets a short list of variables. But a child of the same user can read
//! `/proc/PPID/environ`, `/proc/PPID/mem` and, without Yama, attach with ptrace. So the broker is made
//! not dumpable, which gives these files to root, and the memory behind `environ` is overwritten, for
//! servers that run as root.

use std::ffi::{CStr, CString, c_char};

use super::proc_stat::ProcStat;

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// Makes this process not dumpable, moves its environment to the heap, and zeroes the memory that the
/// kernel shows as `/proc/PID/environ`. `std::env` works as before.
///
/// Programs that are executed later are dumpable again, as usual. Does nothing to the environment if
/// there is more than one thread.
pub fn hide_environment() {
    #[cfg(target_os = "linux")]
    // SAFETY: takes integers and touches no memory of this process.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
    let Some(own) = ProcStat::read().filter(|own| own.threads == 1) else {
        return;
    };
    // SAFETY: this is the only thread, so nothing else uses `environ`; it is null or an array of
    // strings that ends with a null pointer. Afterwards it points to copies that live for ever.
    unsafe {
        let mut copies = Vec::new();
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            copies.push(CString::from(CStr::from_ptr(*next)).into_raw());
            next = next.add(1);
        }
        copies.push(std::ptr::null_mut());
        environ = copies.leak().as_mut_ptr();
        own.zero_environ();
    }
}
