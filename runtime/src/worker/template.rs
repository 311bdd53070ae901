//! A worker that is copied. Starting V8 takes ten times as long as copying a process in which it
//! stands, so a pool starts one worker as a template, which never runs a script, and has it
//! copied for every run.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use crate::handover;

/// The largest pages that a kernel here is built with.
const PAGE: usize = 64 * 1024;
/// Where the addresses of a process end.
const ADDRESSES: usize = 1 << 48;

/// Copies this process for each socket that arrives, and returns in the copies, where the socket
/// has taken the place of `descriptor`. The original leaves when the broker does.
pub fn serve(descriptor: RawFd) {
    keep_in_copies();
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
                if tell(broker, told).is_err() {
                    break;
                }
            }
        }
    }
    // SAFETY: ends the process; nothing in it outlives it.
    unsafe { libc::_exit(0) }
}

/// V8 asks the kernel to leave its heap out of copies. Here the heap is what they are for.
fn keep_in_copies() {
    let first = PAGE as *mut libc::c_void;
    // SAFETY: changes what a copy has, and nothing in this process. The kernel passes over what is
    // not mapped, and ends with an error at its own pages, which lie behind all others.
    unsafe { libc::madvise(first, ADDRESSES - PAGE, libc::MADV_DOFORK) };
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

fn tell(broker: BorrowedFd<'_>, number: i32) -> io::Result<()> {
    let bytes = number.to_le_bytes();
    // SAFETY: the pointer and length describe `bytes`.
    let sent = unsafe {
        libc::send(
            broker.as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            libc::MSG_NOSIGNAL,
        )
    };
    match usize::try_from(sent) {
        Ok(sent) if sent == bytes.len() => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
