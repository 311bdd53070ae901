//! The C library's heap.

/// Returns the free pages of the allocator to the kernel (`malloc_trim`). It takes longer the more
/// pages there are, so a caller needs a reason to expect many.
pub fn release_free_pages() {
    // SAFETY: takes an integer, and returns only free memory of the allocator to the kernel.
    unsafe { libc::malloc_trim(0) };
}
