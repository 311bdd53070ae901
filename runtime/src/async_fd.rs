//! Sockets that wake their task for one kind of readiness. A `tokio::net::UnixStream` also wakes it
//! each time the other side has read, which doubles the work of a short request and its answer.

use std::io;
use std::os::unix::net::UnixStream;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a nonblocking socket for `interest` alone.
pub fn with_interest(interest: Interest, socket: UnixStream) -> io::Result<AsyncFd<UnixStream>> {
    // SAFETY: the stream owns its descriptor and keeps it open as long as it lives.
    unsafe { AsyncFd::register_with_interest(socket, interest) }.map_err(io::Error::from)
}
