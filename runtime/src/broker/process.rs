//! Starting and ending worker processes.
//!
//! Both happen on threads of their own. The kernel kills a worker when the *thread* that started
//! it ends, so that thread must live as long as the pool; and waiting for a killed process can
//! block, so nobody in a hurry does it.

use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::ahead::Ahead;
use super::template::{self, Templates};
use crate::worker::{WorkerOptions, peak_rss_bytes};

/// How often to look whether a process that was killed is dead.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// A process and our end of the connection to it.
pub struct Worker {
    process: Option<Process>,
    pub socket: Option<StdUnixStream>,
    reaper: mpsc::Sender<Reap>,
}

/// A child of this process that nobody has waited for yet, so that its number is its own.
#[derive(Debug)]
pub struct Process(pub libc::pid_t);

/// How a process ended.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    pub status: ExitStatus,
    pub peak_rss_bytes: u64,
}

/// Where a worker comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A program is started: for one worker, or for limits that no other has.
    Start,
    /// A template is copied, which is started before the first copy.
    Copy,
}

/// What the thread that starts workers hears.
enum Request {
    Start(Start),
    /// Somebody waits for the next worker that was to be started later.
    Hurry,
}

struct Start {
    options: WorkerOptions,
    origin: Origin,
    due: Instant,
    started: oneshot::Sender<io::Result<Worker>>,
}

struct Reap {
    process: Process,
    ending: Option<oneshot::Sender<Option<Ending>>>,
}

/// Starts workers, in the order in which they are due.
#[derive(Clone)]
pub struct Starter {
    requests: mpsc::Sender<Request>,
    reaper: mpsc::Sender<Reap>,
}

impl Starter {
    pub fn new(program: PathBuf) -> io::Result<Self> {
        let (requests, incoming) = mpsc::channel::<Request>();
        let (reaper, dead) = mpsc::channel::<Reap>();
        thread("pml-reaper", move || bury(&dead))?;
        let starter = Self { requests, reaper };
        let reaper = starter.reaper.clone();
        thread("pml-starter", move || {
            let mut templates = Templates::new(program);
            let mut later = VecDeque::new();
            while let Some(start) = next(&incoming, &mut later) {
                let worker = match start.origin {
                    Origin::Start => template::start(templates.program(), start.options),
                    Origin::Copy => templates.copy(start.options),
                };
                let worker = worker.map(|(process, socket)| Worker {
                    process: Some(process),
                    socket: Some(socket),
                    reaper: reaper.clone(),
                });
                // A pool that was dropped meanwhile drops the worker, which ends it.
                let _ = start.started.send(worker);
            }
        })?;
        Ok(starter)
    }

    /// Takes over a worker that was begun before there was a pool.
    pub fn adopt(&self, ahead: Ahead) -> Worker {
        Worker {
            process: Some(ahead.process),
            socket: Some(ahead.socket),
            reaper: self.reaper.clone(),
        }
    }

    /// Asks for a worker, at once or after `delay`; the receiver hears when there is a process.
    pub fn request(
        &self,
        options: WorkerOptions,
        origin: Origin,
        delay: Duration,
    ) -> oneshot::Receiver<io::Result<Worker>> {
        let (started, worker) = oneshot::channel();
        // If the thread is gone the sender is dropped, and the receiver tells.
        let _ = self.requests.send(Request::Start(Start {
            options,
            origin,
            due: Instant::now() + delay,
            started,
        }));
        worker
    }

    /// Has the next worker started that was to be started later.
    pub fn hurry(&self) {
        // If the thread is gone, whoever waits for a worker hears of that.
        let _ = self.requests.send(Request::Hurry);
    }
}

/// The next worker to start: one that is due, or that somebody is in a hurry for. `None` when there
/// is nobody left to ask.
fn next(incoming: &mpsc::Receiver<Request>, later: &mut VecDeque<Start>) -> Option<Start> {
    loop {
        let heard = match later.front() {
            Some(first) => {
                let wait = first.due.saturating_duration_since(Instant::now());
                incoming.recv_timeout(wait)
            }
            None => incoming.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match heard {
            Ok(Request::Start(start)) if start.due > Instant::now() => later.push_back(start),
            Ok(Request::Start(start)) => return Some(start),
            Ok(Request::Hurry) if later.is_empty() => {}
            Ok(Request::Hurry) | Err(RecvTimeoutError::Timeout) => return later.pop_front(),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn thread(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(128 * 1024)
        .spawn(body)
        .map(drop)
}

/// Ends processes as they come. One that takes long to die does not keep the others waiting.
fn bury(dead: &mpsc::Receiver<Reap>) {
    let mut dying: Vec<Reap> = Vec::new();
    loop {
        let next = match dying.is_empty() {
            true => dead.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => dead.recv_timeout(LOOK_AGAIN),
        };
        match next {
            Ok(reap) => {
                reap.process.kill();
                dying.push(reap);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) if dying.is_empty() => return,
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK_AGAIN),
        }
        dying.retain_mut(|reap| match reap.process.wait(libc::WNOHANG) {
            Waited::NotYet => true,
            Waited::Over(ended) => {
                if let Some(ending) = reap.ending.take() {
                    let _ = ending.send(ended);
                }
                false
            }
        });
    }
}

enum Waited {
    NotYet,
    Over(Option<Ending>),
}

impl Process {
    /// Kills the process, if it still runs, and waits for it.
    pub fn end(&self) {
        self.kill();
        self.wait(0);
    }

    /// Gives the process a group of its own, as a worker has that was started: what a terminal
    /// sends to the broker's group is not for it, and its threads have one priority.
    pub fn lead_group(&self) {
        // SAFETY: plain system call on a child of ours.
        unsafe { libc::setpgid(self.0, self.0) };
    }

    fn kill(&self) {
        // SAFETY: plain system call. A process that has already ended is still ours to wait for, so
        // its number is nobody else's.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }

    /// How the process ended.
    fn wait(&self, flags: libc::c_int) -> Waited {
        loop {
            let mut status = 0;
            // SAFETY: zeros are valid counts, and both are ours to fill.
            let (waited, usage) = unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                let waited = libc::wait4(self.0, &raw mut status, flags, &raw mut usage);
                (waited, usage)
            };
            return match waited {
                0 => Waited::NotYet,
                -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => continue,
                -1 => Waited::Over(None),
                _ => Waited::Over(Some(Ending {
                    status: ExitStatus::from_raw(status),
                    peak_rss_bytes: peak_rss_bytes(&usage),
                })),
            };
        }
    }
}

impl Worker {
    /// Lets others have the processor first.
    pub fn stand_back(&self, niceness: i32) {
        let Some(process) = self.process.as_ref().filter(|_| niceness > 0) else {
            return;
        };
        // SAFETY: plain system call. The group is that of the worker's threads.
        unsafe { libc::setpriority(libc::PRIO_PGRP, process.0.cast_unsigned(), niceness) };
    }

    /// A gauge of the memory that the process holds right now.
    pub fn gauge(&self) -> Option<MemoryGauge> {
        let pid = self.process.as_ref()?.0;
        // SAFETY: plain system call.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Some(MemoryGauge {
            path: format!("/proc/{pid}/statm"),
            page_bytes: u64::try_from(page).unwrap_or(4096),
        })
    }

    /// Ends the process and tells how it had ended, if it had done so by itself.
    pub async fn end(mut self) -> Option<Ending> {
        let process = self.process.take()?;
        let (ending, ended) = oneshot::channel();
        let reap = Reap {
            process,
            ending: Some(ending),
        };
        self.reaper.send(reap).ok()?;
        ended.await.ok().flatten()
    }
}

/// Reads how much memory a process holds.
pub struct MemoryGauge {
    path: String,
    page_bytes: u64,
}

impl MemoryGauge {
    /// `None` when the process is gone.
    pub fn resident_bytes(&self) -> Option<u64> {
        let sizes = std::fs::read_to_string(&self.path).ok()?;
        let pages: u64 = sizes.split(' ').nth(1)?.parse().ok()?;
        Some(pages * self.page_bytes)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(process) = self.process.take()
            && let Err(mpsc::SendError(reap)) = self.reaper.send(Reap {
                process,
                ending: None,
            })
        {
            reap.process.end();
        }
    }
}
