//! The broker's end of the socket.

use std::future::pending;
use std::io;

use tokio::net::UnixStream;

use crate::protocol::{FromWorker, Inbox, ProtocolError, ToWorker, encode};

/// Sending never waits: a worker that writes while we would wait for it to read could wait for
/// us in turn.
pub struct Link {
    socket: UnixStream,
    inbox: Inbox,
    unsent: Vec<u8>,
}

impl Link {
    pub fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            inbox: Inbox::default(),
            unsent: Vec::new(),
        }
    }

    pub fn send(&mut self, message: &ToWorker) -> Result<(), ProtocolError> {
        let frame = encode(message)?;
        if self.unsent.is_empty() {
            let sent = self.socket.try_write(&frame).unwrap_or(0);
            self.unsent.extend_from_slice(&frame[sent..]);
        } else {
            self.unsent.extend_from_slice(&frame);
        }
        Ok(())
    }

    /// The next message; `None` when the worker has closed its end. Sends what is unsent while
    /// it waits. Safe to cancel: bytes that have arrived stay in the inbox.
    pub async fn receive(&mut self) -> io::Result<Option<FromWorker>> {
        let mut buffer = [0; 16 * 1024];
        loop {
            if let Some(message) = self.inbox.pop().map_err(io::Error::other)? {
                return Ok(Some(message));
            }
            tokio::select! {
                ready = self.socket.readable() => {
                    ready?;
                    match self.socket.try_read(&mut buffer) {
                        Ok(0) => return Ok(None),
                        Ok(count) => self.inbox.push(&buffer[..count]),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                        Err(error) => return Err(error),
                    }
                }
                ready = writable(&self.socket, self.unsent.is_empty()) => {
                    ready?;
                    match self.socket.try_write(&self.unsent) {
                        Ok(sent) => drop(self.unsent.drain(..sent)),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        // The reading side will tell that the worker is gone.
                        Err(_) => self.unsent.clear(),
                    }
                }
            }
        }
    }
}

async fn writable(socket: &UnixStream, nothing_to_send: bool) -> io::Result<()> {
    if nothing_to_send {
        return pending().await;
    }
    socket.writable().await
}
