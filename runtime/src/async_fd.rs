//! Sockets that wake their task for one reason alone. A stream of tokio's wakes it also each time
//! that the other side has read, which doubles the work of a short question and its answer.

use std::io;
use std::os::unix::net::UnixStream;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A socket that does not block, heard of when it is ready for `interest`.
pub fn with_interest(interest: Interest, socket: UnixStream) -> io::Result<AsyncFd<UnixStream>> {
    // SAFETY: the stream owns its descriptor and keeps it open as long as it lives.
    unsafe { AsyncFd::register_with_interest(socket, interest) }.map_err(io::Error::from)
}
