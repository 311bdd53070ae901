//! The broker's background threads.

use std::io;
use std::thread::JoinHandle;

/// Starts a thread with a small stack: what it runs is shallow.
pub fn background_thread(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(128 * 1024)
        .spawn(body)
}
