//! V8's threads, begun late.
//!
//! V8 starts its threads when it is initialised, but a copied process has only the thread that
//! copied it: whatever V8 gave the others to do would never be done. V8 has no way to begin them
//! later, so this stands in for the function that begins threads. While they are held back it
//! notes what was asked for; a worker that will not be copied any more begins them all.

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

/// A thread that was asked for.
struct Held {
    thread: *mut libc::pthread_t,
    stack_bytes: Option<usize>,
    body: Body,
    data: *mut c_void,
}

// SAFETY: the pointers are V8's, which handed them over for a thread to use.
unsafe impl Send for Held {}

/// `None` while threads begin at once.
static HELD: Mutex<Option<Vec<Held>>> = Mutex::new(None);

/// What V8 finds in place of a thread's id meanwhile. It only looks whether it is zero.
const NOT_YET: libc::pthread_t = 1;

/// From now on threads are noted, not begun.
pub fn hold() {
    *lock() = Some(Vec::new());
}

/// Begins the threads that were held back, and all others at once from now on.
///
/// All but one: these do V8's work in the background, any of them whatever comes, and were asked
/// for one per processor, four at most. The script's own thread is one more.
///
/// # Panics
///
/// If the system has no room for them: V8 would wait for work that nobody does.
pub fn begin() {
    let held = lock().take().unwrap_or_default();
    let count = held.len().saturating_sub(1).max(1);
    for thread in held.into_iter().take(count) {
        // SAFETY: these are the arguments that the function was called with.
        let result = unsafe { thread.begin() };
        assert_eq!(result, 0, "a fresh process can start a thread");
    }
}

fn lock() -> std::sync::MutexGuard<'static, Option<Vec<Held>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Held {
    unsafe fn begin(self) -> c_int {
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        // SAFETY: initialised before it is used and destroyed after; the rest as the caller says.
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

/// The C library's own function.
fn create() -> Create {
    static CREATE: OnceLock<Create> = OnceLock::new();
    *CREATE.get_or_init(|| {
        // SAFETY: a name that ends in zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
        assert!(!found.is_null(), "the C library has threads");
        // SAFETY: this is the function's type, by its standard.
        unsafe { std::mem::transmute::<*mut c_void, Create>(found) }
    })
}

/// Stands in for the C library's function of this name.
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
        held.push(Held {
            thread,
            stack_bytes: is_set.then_some(stack_bytes),
            body,
            data,
        });
        // SAFETY: the caller gave it to be written.
        unsafe { thread.write(NOT_YET) };
        return 0;
    }
    // SAFETY: the caller's own arguments, passed on.
    unsafe { create()(thread, attributes, body, data) }
}
