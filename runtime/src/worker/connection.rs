//! The worker's end of the socket.
//!
//! Writing blocks: a frame is written when `send` returns, even from a script that never yields, and
//! from the watchdog's thread as well. Reading is part of the event loop.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pml_ops::{AnswerFuture, BrokerClient};
use pml_protocol::framing::{FrameReader, FramingError, encode};
use pml_protocol::message::{FromWorker, LOG_LINE_COST, ToWorker};
use pml_protocol::{Failure, FailureKind, Level, Request};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::answers::Answers;
use crate::async_fd;
use crate::spin_wait::SpinWait;

/// The writing half, shared by the script's thread and the watchdog.
pub struct Writer {
    socket: OwnedFd,
    /// Held while a frame is written.
    lock: Mutex<()>,
}

impl Writer {
    pub fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            lock: Mutex::new(()),
        }
    }

    /// Writes a message, and blocks until all of it is written.
    ///
    /// # Errors
    ///
    /// `FileTooLarge` for a message over the frame limit, or the error of the socket.
    pub fn send(&self, message: &FromWorker) -> io::Result<()> {
        let frame = encode(message).map_err(|error| match error {
            FramingError::TooLarge { .. } => io::Error::new(io::ErrorKind::FileTooLarge, error),
            FramingError::Malformed(_) => io::Error::other(error),
        })?;
        // A panic while writing ends the process, and the mutex protects no data, so poison does not
        // matter.
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            match send_some(self.socket.as_fd(), rest) {
                Ok(sent) => rest = &rest[sent..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait_writable(self.socket.as_fd());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for a message from the broker for at most `time`. Returns whether there is one.
    pub fn is_readable_within(&self, time: Duration) -> bool {
        let mut poll = libc::pollfd {
            fd: self.socket.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let millis = libc::c_int::try_from(time.as_millis()).unwrap_or(libc::c_int::MAX);
        // SAFETY: the pointer is to one `pollfd`, a local that outlives the call.
        unsafe { libc::poll(&raw mut poll, 1, millis) > 0 }
    }
}

/// Writes as many bytes as the socket takes.
pub fn send_some(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the pointer and length describe `bytes`, which outlives the call.
    let sent = unsafe {
        libc::send(
            socket.as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            libc::MSG_NOSIGNAL,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

fn wait_writable(socket: BorrowedFd<'_>) {
    let mut poll = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: the pointer is to one `pollfd`, a local that outlives the call. A failed wait makes the
    // caller's loop a busy wait, which is harmless.
    unsafe { libc::poll(&raw mut poll, 1, -1) };
}

/// Both halves of the socket, for the script's thread.
pub struct Connection {
    writer: Arc<Writer>,
    reader: AsyncFd<UnixStream>,
    frames: RefCell<FrameReader>,
    answers: Rc<Answers>,
    next_id: Cell<u32>,
    spin: RefCell<SpinWait>,
    /// Bytes that the script may still log; set when the run begins.
    log_left: Cell<u64>,
    on_log_overflow: RefCell<Option<Box<dyn Fn()>>>,
}

impl Connection {
    pub fn new(writer: Arc<Writer>) -> io::Result<Rc<Self>> {
        let socket = UnixStream::from(writer.socket.try_clone()?);
        socket.set_nonblocking(true)?;
        Ok(Rc::new(Self {
            writer,
            reader: async_fd::with_interest(Interest::READABLE, socket)?,
            frames: RefCell::default(),
            answers: Rc::default(),
            next_id: Cell::new(0),
            spin: RefCell::default(),
            log_left: Cell::new(0),
            on_log_overflow: RefCell::new(None),
        }))
    }

    /// Sets how many bytes the run may log. `on_overflow` is called when they are used up.
    pub fn allow_logs(&self, bytes: u64, on_overflow: impl Fn() + 'static) {
        self.log_left.set(bytes);
        *self.on_log_overflow.borrow_mut() = Some(Box::new(on_overflow));
    }

    /// The next message that is not an answer; answers go to the requests that wait for them. `None`
    /// when the broker is gone.
    pub async fn receive(&self) -> Option<ToWorker> {
        loop {
            // After a malformed frame the stream cannot be read any further.
            let popped = self.frames.borrow_mut().pop::<ToWorker>().ok()?;
            match popped {
                Some(ToWorker::Answer { id, answer }) => self.answers.arrive(id, answer),
                Some(other) => return Some(other),
                None => self.fill().await?,
            }
        }
    }

    /// Waits for bytes from the broker. `None` when it is gone.
    async fn fill(&self) -> Option<()> {
        poll_fn(|context| self.poll_read(context)).await
    }

    fn poll_read(&self, context: &mut Context<'_>) -> Poll<Option<()>> {
        let mut frames = self.frames.borrow_mut();
        let mut spin = self.spin.borrow_mut();
        if spin.read(|| frames.read_from(self.reader.get_ref())) {
            return Poll::Ready(Some(()));
        }
        while let Ok(mut ready) = ready!(self.reader.poll_read_ready(context)) {
            match ready.try_io(|reader| frames.read_from(reader.get_ref())) {
                Ok(Ok(count)) => return Poll::Ready((count > 0).then_some(())),
                Ok(Err(_)) => break,
                Err(_would_block) => {}
            }
        }
        Poll::Ready(None)
    }

    /// Sends a message that needs no answer. An error is ignored: a worker whose broker is gone is
    /// killed.
    pub fn notify(&self, message: &FromWorker) {
        let _ = self.writer.send(message);
    }

    /// Whether a request is unanswered.
    pub fn is_waiting(&self) -> bool {
        self.answers.has_unanswered()
    }
}

impl BrokerClient for Connection {
    fn ask(&self, request: Request) -> AnswerFuture {
        let id = self.next_id.get();
        self.next_id.set(id.wrapping_add(1));
        let answer = self.answers.expect(id);
        self.spin.borrow_mut().request_sent();
        if let Err(error) = self.writer.send(&FromWorker::Ask { id, request }) {
            let failure = Failure::new(
                FailureKind::Tool,
                format!("the request could not be sent: {error}"),
            );
            return Box::pin(async { Ok(Err(failure)) });
        }
        Box::pin(answer)
    }

    fn log(&self, level: Level, text: String) -> bool {
        let cost = text.len() as u64 + LOG_LINE_COST;
        let Some(left) = self.log_left.get().checked_sub(cost) else {
            if let Some(overflow) = &*self.on_log_overflow.borrow() {
                overflow();
            }
            return false;
        };
        self.log_left.set(left);
        // Fails if the broker is gone; the kernel then kills this process.
        self.writer.send(&FromWorker::Log { level, text }).is_ok()
    }
}
