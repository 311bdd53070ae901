//! The template process. Starting V8 takes ten times as long as forking a process that has it, so a
//! pool starts one worker as a template, which never runs a script itself, and forks it for every
//! run.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use super::connection::send_some;
use super::os::fork_pages;
use crate::fd_passing;

pub use super::os::fork_pages::{forget_code, keep_code_in_forks};

/// Forks this process for each socket that arrives, and returns in the children, where the socket
/// has replaced `descriptor`. The template exits when the broker closes its end.
pub fn fork_for_each_socket(descriptor: RawFd) {
    fork_pages::keep_heap_in_forks();
    // SAFETY: the worker's one socket, open as long as the process lives.
    let broker = unsafe { BorrowedFd::borrow_raw(descriptor) };
    // Anything but a socket breaks the protocol, and ends the template.
    while let Ok(Some(socket)) = fd_passing::receive(broker) {
        match fork() {
            Ok(0) => {
                // SAFETY: takes two integers. Both descriptors are open, and the child does not use the
                // template's socket.
                unsafe { libc::dup2(socket.as_fd().as_raw_fd(), descriptor) };
                return;
            }
            forked => {
                drop(socket);
                let pid = forked.unwrap_or_else(|error| -error.raw_os_error().unwrap_or(1));
                if send_some(broker, &pid.to_le_bytes()).is_err() {
                    break;
                }
            }
        }
    }
    // SAFETY: `_exit` takes any code and does not return.
    unsafe { libc::_exit(0) }
}

/// The child's pid, or 0 in the child. The child's parent is the broker, not the template
/// (`CLONE_PARENT`): the broker kills and reaps workers.
fn fork() -> io::Result<libc::pid_t> {
    let flags = libc::CLONE_PARENT | libc::SIGCHLD;
    // SAFETY: this process has one thread, so the child holds no lock of another thread. Without a
    // stack of its own the child goes on here.
    let forked = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match libc::pid_t::try_from(forked) {
        Ok(pid) if pid >= 0 => Ok(pid),
        _ => Err(io::Error::last_os_error()),
    }
}
