//! Which pages a fork of the template inherits.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The largest page size that Linux is built with.
const PAGE: usize = 64 * 1024;
/// The end of a process's address space.
const ADDRESSES: usize = 1 << 48;

/// Lets forks inherit V8's heap. V8 marks it `MADV_DONTFORK`; here the heap is what forks are for.
pub fn keep_heap_in_forks() {
    let first = PAGE as *mut c_void;
    // SAFETY: MADV_DOFORK changes what a fork inherits, not the memory of this process. The kernel
    // skips unmapped ranges, and stops with an error at its own pages, which come last.
    unsafe { libc::madvise(first, ADDRESSES - PAGE, libc::MADV_DOFORK) };
}

/// Lets forks inherit the page tables of the program's code. The kernel does not copy those of
/// file mappings, so each fork would fault in hundreds of pages of code and constants one by one. It
/// does copy those of a mapping with a modified page, so one byte of each mapping is written with the
/// value that it has.
///
/// Call it before the walls go up: `/proc/self/mem` cannot be opened behind them. Where it cannot be
/// opened at all, forks start a little slower.
pub fn keep_code_in_forks() {
    let Ok(mut memory) = File::options().write(true).open("/proc/self/mem") else {
        return;
    };
    let data = (&raw mut memory).cast();
    // SAFETY: the callback has the right type, and `data` is the file that it expects.
    unsafe { libc::dl_iterate_phdr(Some(keep_object), data) };
}

/// Drops the pages of code that were used so far. V8's start touches twice as many as a run, and
/// every fork would inherit them all.
pub fn forget_code() {
    // SAFETY: the callback has the right type, and takes no data.
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
        // Not every kernel permits it.
        let _ = memory.write_at(&[byte], address);
    }
    0
}

unsafe extern "C" fn forget_object(
    object: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: `sysconf` takes any name.
    let Ok(page) = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) else {
        return 1;
    };
    // SAFETY: the loader describes an object that is loaded.
    for (address, length) in code(unsafe { &*object }) {
        // Whole pages only: a page that the segment shares may hold writable data.
        let first = address.next_multiple_of(page);
        let end = (address + length) / page * page;
        let length = usize::try_from(end.saturating_sub(first)).unwrap_or(0);
        // SAFETY: pages of a read-only file mapping are read again from the file when they are used.
        // The page that was written holds the same bytes.
        unsafe { libc::madvise(first as *mut c_void, length, libc::MADV_DONTNEED) };
    }
    0
}

/// Address and length of an object's read-only segments.
fn code(object: &libc::dl_phdr_info) -> impl Iterator<Item = (u64, u64)> {
    // SAFETY: the loader keeps this table, of the given length, as long as the object is loaded.
    let segments =
        unsafe { std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)) };
    segments
        .iter()
        .filter(|segment| segment.p_type == libc::PT_LOAD && segment.p_flags & libc::PF_W == 0)
        .map(|segment| (object.dlpi_addr + segment.p_vaddr, segment.p_memsz))
}
