//! Counts and limits the memory of array buffers, which V8's heap limit does not include.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use deno_core::v8;

use super::control::Control;
use pml_protocol::{ErrorKind, RunError};

/// V8 collects garbage and retries a few times before an allocation fails. After more consecutive
/// refusals than that, the script catches the errors and allocates again, and its run is ended.
const MAX_REFUSALS: u32 = 8;

const ALIGNMENT: usize = 16;

/// The memory that the script's array buffers use.
pub struct Buffers {
    used: AtomicUsize,
    limit: usize,
    /// Consecutive allocations that were refused.
    refusals: AtomicU32,
    control: Arc<Control>,
}

const VTABLE: v8::RustAllocatorVtable<Buffers> = v8::RustAllocatorVtable {
    allocate,
    allocate_uninitialized,
    free,
    drop: release,
};

impl Buffers {
    /// A limit of `limit` bytes for all buffers together.
    pub fn new(limit: usize, control: Arc<Control>) -> Arc<Self> {
        Arc::new(Self {
            used: AtomicUsize::new(0),
            limit,
            refusals: AtomicU32::new(0),
            control,
        })
    }

    /// An allocator that refuses what would exceed the limit.
    pub fn allocator(self: Arc<Self>) -> v8::UniqueRef<v8::Allocator> {
        // SAFETY: the pointer stays valid until V8 calls `release`, which drops the reference.
        unsafe { v8::new_rust_allocator(Arc::into_raw(self), &VTABLE) }
    }

    /// Whether the last allocation was refused.
    pub fn are_full(&self) -> bool {
        self.refusals.load(Ordering::Relaxed) > 0
    }

    /// Ends the run because of its buffers.
    pub fn trip(&self) {
        self.control.trip(RunError::new(
            ErrorKind::Memory,
            format!(
                "the script's array buffers exceed {} MiB",
                self.limit / (1024 * 1024)
            ),
        ));
    }

    /// Reserves memory and returns the layout to allocate, or `None` over the limit.
    fn reserve(&self, length: usize) -> Option<Layout> {
        let is_reserved = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(length).filter(|sum| *sum <= self.limit)
            })
            .is_ok();
        if is_reserved {
            self.refusals.store(0, Ordering::Relaxed);
            return Layout::from_size_align(length.max(1), ALIGNMENT).ok();
        }
        if self.refusals.fetch_add(1, Ordering::Relaxed) + 1 > MAX_REFUSALS {
            self.trip();
        }
        None
    }
}

unsafe extern "C" fn allocate(buffers: &Buffers, length: usize) -> *mut c_void {
    match buffers.reserve(length) {
        // SAFETY: the layout has a size of at least one byte.
        Some(layout) => unsafe { alloc_zeroed(layout) }.cast(),
        None => std::ptr::null_mut(),
    }
}

unsafe extern "C" fn allocate_uninitialized(buffers: &Buffers, length: usize) -> *mut c_void {
    match buffers.reserve(length) {
        // SAFETY: the layout has a size of at least one byte.
        Some(layout) => unsafe { alloc(layout) }.cast(),
        None => std::ptr::null_mut(),
    }
}

unsafe extern "C" fn free(buffers: &Buffers, data: *mut c_void, length: usize) {
    buffers.used.fetch_sub(length, Ordering::Relaxed);
    if let Ok(layout) = Layout::from_size_align(length.max(1), ALIGNMENT) {
        // SAFETY: V8 frees only what one of the functions above allocated, with the same length.
        unsafe { dealloc(data.cast(), layout) };
    }
}

unsafe extern "C" fn release(buffers: *const Buffers) {
    // SAFETY: the pointer is from `Arc::into_raw` in `allocator`, and V8 calls this once.
    drop(unsafe { Arc::from_raw(buffers) });
}
