//! Runs work that takes long without holding up the event loop.

use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Handle, RuntimeFlavor};

/// Text of this length is parsed in less than a millisecond.
pub const SMALL_TEXT: usize = 128 * 1024;

/// One large message is in work at a time: its values take many times the memory of its text.
static LARGE: Mutex<()> = Mutex::new(());

/// Runs `work` on text of `bytes` bytes. Large text is worked on while other threads run the tasks of
/// this one, one text at a time.
pub fn off_loop<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes <= SMALL_TEXT || !can_block() {
        return work();
    }
    tokio::task::block_in_place(|| {
        // The mutex protects no data, so a panic of another thread leaves nothing half done.
        let _one_at_a_time = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
        work()
    })
}

/// Whether this thread may block: a runtime with one thread has no other for its tasks.
fn can_block() -> bool {
    Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}
