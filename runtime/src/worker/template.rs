//! A worker that is copied. Starting V8 takes ten times as long as copying a process in which it
//! stands, so a pool starts one worker as a template, which never runs a script, and has it
//! copied for every run.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use super::connection::send_some;
use crate::handover;

/// The largest pages that a kernel here is built with.
const PAGE: usize = 64 * 1024;
/// Where the addresses of a process end.
const ADDRESSES: usize = 1 << 48;

/// Copies this process for each socket that arrives, and returns in the copies, where the socket
/// has taken the place of `descriptor`. The original leaves when the broker does.
pub fn serve(descriptor: RawFd) {
    keep_heap_in_copies();
    keep_code_in_copies();
    // SAFETY: the worker's one socket, open as long as the process lives.
    let broker = unsafe { BorrowedFd::borrow_raw(descriptor) };
    // Anything but a socket means that the two sides disagree about everything: the end.
    while let Ok(Some(socket)) = handover::receive(broker) {
        match copy() {
            Ok(0) => {
                // SAFETY: both are open; the broker's end for the original is closed by it.
                unsafe { libc::dup2(socket.as_fd().as_raw_fd(), descriptor) };
                return;
            }
            copied => {
                drop(socket);
                let told = copied.unwrap_or_else(|error| -error.raw_os_error().unwrap_or(1));
                if send_some(broker, &told.to_le_bytes()).is_err() {
                    break;
                }
            }
        }
    }
    // SAFETY: ends the process; nothing in it outlives it.
    unsafe { libc::_exit(0) }
}

/// V8 asks the kernel to leave its heap out of copies. Here the heap is what they are for.
fn keep_heap_in_copies() {
    let first = PAGE as *mut c_void;
    // SAFETY: changes what a copy has, and nothing in this process. The kernel passes over what is
    // not mapped, and ends with an error at its own pages, which lie behind all others.
    unsafe { libc::madvise(first, ADDRESSES - PAGE, libc::MADV_DOFORK) };
}

/// The kernel leaves pages of files out of copies too: each would find them again one by one, and
/// there are hundreds of code and constants. It keeps those of a mapping in which something was
/// written, so a byte of each is written, and stays what it was.
fn keep_code_in_copies() {
    // SAFETY: the function fits, and gets no data.
    unsafe { libc::dl_iterate_phdr(Some(keep_object), std::ptr::null_mut()) };
}

unsafe extern "C" fn keep_object(
    object: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the loader describes an object that is loaded, and its segments.
    unsafe {
        let base = (*object).dlpi_addr as usize;
        let count = usize::from((*object).dlpi_phnum);
        let segments = std::slice::from_raw_parts((*object).dlpi_phdr, count);
        for segment in segments {
            let is_writable = segment.p_flags & libc::PF_W != 0;
            if segment.p_type == libc::PT_LOAD && !is_writable {
                let runs = segment.p_flags & libc::PF_X != 0;
                write_again(base + segment.p_vaddr as usize, runs);
            }
        }
    }
    0
}

/// Writes a byte of a read-only page once more.
///
/// # Safety
///
/// The page is mapped, and `runs` says whether it holds code.
unsafe fn write_again(address: usize, runs: bool) {
    // SAFETY: plain system call.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Ok(page_bytes) = usize::try_from(page_bytes) else {
        return;
    };
    let page = (address - address % page_bytes) as *mut c_void;
    let as_it_was = if runs {
        libc::PROT_READ | libc::PROT_EXEC
    } else {
        libc::PROT_READ
    };
    // SAFETY: nothing else runs in this process, and what may be read or run stays so throughout.
    unsafe {
        let byte = address as *mut u8;
        if libc::mprotect(page, 1, as_it_was | libc::PROT_WRITE) == 0 {
            byte.write_volatile(byte.read_volatile());
            libc::mprotect(page, 1, as_it_was);
        }
    }
}

/// The copy's number, or 0 in the copy. Its parent is the broker, not the template: whoever runs
/// scripts ends and reaps their processes.
fn copy() -> io::Result<libc::pid_t> {
    let flags = libc::CLONE_PARENT | libc::SIGCHLD;
    // SAFETY: this process has one thread, so nothing in the copy waits for one that it lacks;
    // without a stack of its own the copy goes on here.
    let copied = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match libc::pid_t::try_from(copied) {
        Ok(number) if number >= 0 => Ok(number),
        _ => Err(io::Error::last_os_error()),
    }
}
