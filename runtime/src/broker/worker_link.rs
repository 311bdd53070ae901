//! The broker's end of a worker's socket.

use std::future::pending;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::async_fd;
use crate::spin_wait::SpinWait;
use pml_protocol::framing::{FrameReader, FramingError, encode};
use pml_protocol::message::{FromWorker, ToWorker};

/// Sends and receives the messages of a run. Sending never waits: the worker's writes block, so two
/// waiting sides would be a deadlock.
pub struct WorkerLink {
    socket: AsyncFd<UnixStream>,
    inbox: FrameReader,
    unsent: Option<Unsent>,
    spin: SpinWait,
}

/// Bytes that did not fit into the socket's buffer.
struct Unsent {
    bytes: Vec<u8>,
    /// How many of them are written.
    sent: usize,
    socket: AsyncFd<UnixStream>,
}

impl WorkerLink {
    pub fn new(socket: UnixStream) -> io::Result<Self> {
        Ok(Self {
            socket: async_fd::with_interest(Interest::READABLE, socket)?,
            inbox: FrameReader::default(),
            unsent: None,
            spin: SpinWait::default(),
        })
    }

    /// Sends a message, or queues what the socket does not take.
    ///
    /// # Errors
    ///
    /// If the message is too large for a frame. A worker that is gone is noticed by
    /// [`WorkerLink::receive`].
    pub fn send(&mut self, message: &ToWorker) -> Result<(), FramingError> {
        let frame = encode(message)?;
        if let Some(unsent) = &mut self.unsent {
            unsent.bytes.extend_from_slice(&frame);
            return Ok(());
        }
        let sent = self.socket.get_ref().write(&frame).unwrap_or(0);
        if sent < frame.len() {
            // Without a free descriptor the broker cannot wait until the socket is writable; the run
            // then ends at its time limit.
            self.unsent = Unsent::new(self.socket.get_ref(), &frame[sent..]).ok();
        }
        Ok(())
    }

    /// How many bytes are queued.
    pub fn unsent_bytes(&self) -> usize {
        self.unsent
            .as_ref()
            .map_or(0, |unsent| unsent.bytes.len() - unsent.sent)
    }

    /// The worker may send a request at once: spin for it before sleeping.
    pub fn expect_request(&mut self) {
        self.spin.request_sent();
    }

    /// The next message; `None` when the worker has closed its end. Sends queued bytes while it
    /// waits.
    ///
    /// # Errors
    ///
    /// If the socket fails, or the worker sends a malformed or too large frame.
    ///
    /// # Cancel safety
    ///
    /// Bytes that have arrived stay in the inbox.
    pub async fn receive(&mut self) -> io::Result<Option<FromWorker>> {
        let (socket, inbox) = (&self.socket, &mut self.inbox);
        loop {
            if let Some(message) = inbox.pop().map_err(io::Error::other)? {
                return Ok(Some(message));
            }
            if self.spin.read(|| inbox.read_from(socket.get_ref())) {
                continue;
            }
            let read = socket.async_io(Interest::READABLE, |socket| inbox.read_from(socket));
            tokio::select! {
                read = read => match read {
                    Ok(0) => return Ok(None),
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                    Err(error) => return Err(error),
                },
                sent = send_some(self.unsent.as_ref()) => {
                    self.unsent.take_if(|unsent| unsent.is_sent(sent));
                }
            }
        }
    }
}

impl Unsent {
    fn new(socket: &UnixStream, bytes: &[u8]) -> io::Result<Self> {
        Ok(Self {
            bytes: bytes.to_owned(),
            sent: 0,
            socket: async_fd::with_interest(Interest::WRITABLE, socket.try_clone()?)?,
        })
    }

    /// Notes how many bytes were written, and returns whether all are.
    fn is_sent(&mut self, sent: io::Result<usize>) -> bool {
        // Where no more can be written the worker is gone, which the reading side reports.
        self.sent += sent.unwrap_or(self.bytes.len() - self.sent);
        // Not after every write: each drain moves all bytes behind it.
        if self.sent >= self.bytes.len() / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        self.bytes.is_empty()
    }
}

async fn send_some(unsent: Option<&Unsent>) -> io::Result<usize> {
    let Some(unsent) = unsent else {
        return pending().await;
    };
    let left = &unsent.bytes[unsent.sent..];
    unsent
        .socket
        .async_io(Interest::WRITABLE, |mut socket| socket.write(left))
        .await
}
