//! Deferred start of V8's threads.
//!
//! V8 starts its threads when it is initialised, but a forked process has only the thread that called
//! fork: tasks that V8 queued for the others would never run. V8 has no option to start them later, so
//! this module replaces `pthread_create`. While threads are held back it records the calls; a worker
//! that will not be forked again starts them all.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::{Mutex, OnceLock, PoisonError};

type Body = extern "C" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    Body,
    *mut c_void,
) -> c_int;

/// The arguments of a `pthread_create` call that is held back.
struct HeldThread {
    thread: *mut libc::pthread_t,
    stack_bytes: Option<usize>,
    body: Body,
    data: *mut c_void,
}

// SAFETY: V8 passed the pointers for use on another thread.
unsafe impl Send for HeldThread {}

/// `None` while threads start at once.
static HELD: Mutex<Option<Vec<HeldThread>>> = Mutex::new(None);

/// The thread id that V8 gets meanwhile. V8 only checks that it is not zero.
const NOT_YET: libc::pthread_t = 1;

/// Holds back all threads from now on.
pub fn hold() {
    *lock() = Some(Vec::new());
}

/// Starts the threads that were held back, except one; later threads start at once.
///
/// They are V8's background threads, each of which runs any task. V8 requests one per CPU, at most
/// four; the script's own thread is one more, so one is left out.
///
/// # Panics
///
/// If a thread cannot be started: V8 would wait for tasks that no thread runs.
pub fn begin() {
    let held = lock().take().unwrap_or_default();
    let count = held.len().saturating_sub(1).max(1);
    for thread in held.into_iter().take(count) {
        // SAFETY: these are the arguments that V8 called the function with. They belong to its platform,
        // which this process never tears down.
        let result = unsafe { thread.begin() };
        assert_eq!(result, 0, "a fresh process can start a thread");
    }
}

fn lock() -> std::sync::MutexGuard<'static, Option<Vec<HeldThread>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HeldThread {
    /// # Safety
    ///
    /// The pointers must still be valid, as for `pthread_create`.
    unsafe fn begin(self) -> c_int {
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        // SAFETY: the attributes are initialised before their use and destroyed after it; the caller
        // guarantees the rest.
        unsafe {
            libc::pthread_attr_init(attributes.as_mut_ptr());
            if let Some(bytes) = self.stack_bytes {
                libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), bytes);
            }
            let result = create()(self.thread, attributes.as_ptr(), self.body, self.data);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            result
        }
    }
}

/// libc's `pthread_create`.
fn create() -> Create {
    static CREATE: OnceLock<Create> = OnceLock::new();
    *CREATE.get_or_init(|| {
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
        assert!(!found.is_null(), "libc has pthread_create");
        // SAFETY: POSIX defines this as the type of `pthread_create`.
        unsafe { std::mem::transmute::<*mut c_void, Create>(found) }
    })
}

/// Replaces libc's function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    body: Body,
    data: *mut c_void,
) -> c_int {
    if let Some(held) = &mut *lock() {
        let mut stack_bytes = 0;
        // SAFETY: the caller's attributes, if there are any, are initialised.
        let is_set = !attributes.is_null()
            && unsafe { libc::pthread_attr_getstacksize(attributes, &raw mut stack_bytes) } == 0;
        held.push(HeldThread {
            thread,
            stack_bytes: is_set.then_some(stack_bytes),
            body,
            data,
        });
        // SAFETY: `pthread_create` requires a valid pointer to write the id to.
        unsafe { thread.write(NOT_YET) };
        return 0;
    }
    // SAFETY: the caller's own arguments, passed on.
    unsafe { create()(thread, attributes, body, data) }
}
