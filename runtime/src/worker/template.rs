//! A worker that is copied. Starting V8 takes ten times as long as copying a process in which it
//! stands, so a pool starts one worker as a template, which never runs a script, and has it
//! copied for every run.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::FileExt;

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
///
/// Call it before the walls go up: this is a file that opens no more behind them. Where it does not
/// open at all, copies take a little longer.
pub fn keep_code_in_copies() {
    let Ok(mut memory) = File::options().write(true).open("/proc/self/mem") else {
        return;
    };
    let data = (&raw mut memory).cast();
    // SAFETY: the function fits, and the data is what it takes it for.
    unsafe { libc::dl_iterate_phdr(Some(keep_object), data) };
}

/// Forgets which pages of code were used so far. V8's start uses twice as many as a run, and a copy
/// would have them all.
pub fn forget_code() {
    // SAFETY: the function fits, and takes no data.
    unsafe { libc::dl_iterate_phdr(Some(forget_object), std::ptr::null_mut()) };
}

unsafe extern "C" fn keep_object(
    object: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    memory: *mut c_void,
) -> c_int {
    // SAFETY: the loader describes an object that is loaded; the data is the file that this was
    // called with.
    let (object, memory) = unsafe { (&*object, &*memory.cast::<File>()) };
    for (address, _) in code(object) {
        // SAFETY: the segment is mapped, and may be read.
        let byte = unsafe { (address as *const u8).read_volatile() };
        // Not every kernel lets a process do this.
        let _ = memory.write_at(&[byte], address);
    }
    0
}

unsafe extern "C" fn forget_object(
    object: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: plain system call.
    let Ok(page) = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) else {
        return 1;
    };
    // SAFETY: the loader describes an object that is loaded.
    for (address, length) in code(unsafe { &*object }) {
        // Whole pages only: what lies beside the segment may be written to.
        let first = address.next_multiple_of(page);
        let end = (address + length) / page * page;
        let length = usize::try_from(end.saturating_sub(first)).unwrap_or(0);
        // SAFETY: pages of a file that nobody writes to are found there again when they are used.
        // The one that was written to holds the same.
        unsafe { libc::madvise(first as *mut c_void, length, libc::MADV_DONTNEED) };
    }
    0
}

/// Where the segments of an object lie that are never written to, and their lengths.
fn code(object: &libc::dl_phdr_info) -> impl Iterator<Item = (u64, u64)> {
    // SAFETY: the loader's own table.
    let segments =
        unsafe { std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)) };
    segments
        .iter()
        .filter(|segment| segment.p_type == libc::PT_LOAD && segment.p_flags & libc::PF_W == 0)
        .map(|segment| (object.dlpi_addr + segment.p_vaddr, segment.p_memsz))
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
