//! Ends a run whose isolate is out of memory, before V8 aborts the process.

use std::ffi::{c_char, c_void};
use std::sync::{Arc, OnceLock};

use deno_core::{JsRuntime, v8};
use pml_protocol::{ErrorKind, RunError};

use super::buffers::Buffers;
use super::control::Control;

/// How far the heap may grow past its limit so that V8 can still unwind. A fixed amount: a factor
/// would let a script that allocates while it unwinds grow without end.
const UNWINDING_ROOM: usize = 16 * 1024 * 1024;

/// V8's message when a script makes an array beyond the largest size.
const INVALID_SIZE: &str = "invalid size error";

/// V8 calls the out-of-memory handler without user data, so the guard is global.
static HEAP_GUARD: OnceLock<HeapGuard> = OnceLock::new();

/// Ends the run when the isolate reaches its memory limits.
pub struct HeapGuard {
    pub control: Arc<Control>,
    pub buffers: Arc<Buffers>,
    /// V8's heap limit, for the message.
    pub heap_bytes: u64,
}

impl HeapGuard {
    /// Registers the guard with V8.
    pub fn install(self, runtime: &mut JsRuntime) {
        // One isolate per process: the cell is empty here.
        let _ = HEAP_GUARD.set(self);
        let isolate = runtime.v8_isolate();
        isolate.add_near_heap_limit_callback(near_heap_limit, std::ptr::null_mut());
        isolate.set_oom_error_handler(out_of_memory);
        v8::V8::set_fatal_error_handler(failed_check);
    }

    /// V8 does not say whether the heap or the buffers are full; a buffer that was just refused does.
    fn trip(&self) {
        if self.buffers.are_full() {
            return self.buffers.trip();
        }
        self.control.trip(RunError::new(
            ErrorKind::Memory,
            format!(
                "the script's heap exceeds {} MiB",
                self.heap_bytes / (1024 * 1024)
            ),
        ));
    }
}

unsafe extern "C" fn near_heap_limit(_: *mut c_void, current: usize, _initial: usize) -> usize {
    trip();
    current + UNWINDING_ROOM
}

/// Tells the broker why: V8 aborts the process when this returns.
unsafe extern "C" fn out_of_memory(_location: *const c_char, _details: &v8::OomDetails) {
    trip();
}

/// Tells the broker why: V8 aborts the process when this returns. A script that makes an array of an
/// invalid size also fails a check of V8, which is not a bug of V8.
fn failed_check(_file: &str, _line: i32, message: &str) {
    let Some(guard) = HEAP_GUARD.get() else {
        return;
    };
    let error = if message.contains(INVALID_SIZE) {
        let message = "the script makes an array that is too large for V8";
        RunError::new(ErrorKind::Memory, message)
    } else {
        let message = format!("V8 failed a check of its own: {message}");
        RunError::new(ErrorKind::Internal, message)
    };
    guard.control.trip(error);
}

fn trip() {
    if let Some(guard) = HEAP_GUARD.get() {
        guard.trip();
    }
}
