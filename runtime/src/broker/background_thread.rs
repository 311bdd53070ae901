//! The broker's background threads.

use std::io;
use std::thread::JoinHandle;

/// Starts a thread with a stack of 128 KiB, which is enough for the starter and the reaper.
pub fn background_thread(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(128 * 1024)
        .spawn(body)
}
