//! Ending worker processes. A process that nobody waits for when it has died is a burden to whoever
//! inherits it, and in a container that may be someone who never looks.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::deferred_channel::{Received, Receiver, Sender, deferred_channel};
use super::process::thread;
use crate::worker_options::peak_rss_bytes;

/// What whoever asked for a run gets to hear of its outcome before the machine is busy with ending
/// its worker and making another.
pub const REPLY_FIRST: Duration = Duration::from_millis(3);

/// How often to look whether a process that was killed is dead.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// A child of this process that nobody has waited for yet, so that its number is its own.
#[derive(Debug)]
pub struct Process(pub libc::pid_t);

/// How a process ended.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    pub status: ExitStatus,
    pub peak_rss_bytes: u64,
}

/// Who waits for processes to die.
#[derive(Clone)]
pub enum Reaper {
    /// A thread, so that nobody else does.
    Thread(Sender<Reap>),
    /// Whoever drops the pool, for a program that runs one script: it has nothing better to do by
    /// then, and is done before a thread would be awake.
    Last(Arc<Mutex<Vec<Reap>>>),
}

pub struct Reap {
    process: Process,
    /// When it is to be killed; nothing once it was.
    due: Option<Instant>,
    ending: Option<oneshot::Sender<Option<Ending>>>,
}

impl Reaper {
    pub fn last() -> Self {
        Self::Last(Arc::default())
    }

    pub fn on_thread() -> io::Result<(Self, JoinHandle<()>)> {
        let (sender, dead) = deferred_channel()?;
        let thread = thread("pml-reaper", move || bury(&dead))?;
        Ok((Self::Thread(sender), thread))
    }

    /// Ends the process soon, and lets somebody else wait for that.
    pub fn take(&self, process: Process) {
        let mut reap = Reap {
            process,
            due: Some(Instant::now() + REPLY_FIRST),
            ending: None,
        };
        match self {
            Self::Thread(sender) => {
                if let Err(reap) = sender.send(reap, REPLY_FIRST) {
                    reap.process.end();
                }
            }
            Self::Last(dying) => {
                reap.kill();
                let mut dying = dying.lock().unwrap_or_else(PoisonError::into_inner);
                dying.retain_mut(|reap| reap.is_dying(libc::WNOHANG));
                dying.push(reap);
            }
        }
    }

    /// Ends the process and tells how it had ended, if it had done so by itself.
    pub async fn end(&self, process: Process) -> Option<Ending> {
        match self {
            Self::Thread(sender) => {
                process.kill();
                let (ending, ended) = oneshot::channel();
                let reap = Reap {
                    process,
                    due: None,
                    ending: Some(ending),
                };
                sender.send(reap, Duration::ZERO).ok()?;
                ended.await.ok().flatten()
            }
            Self::Last(_) => process.end(),
        }
    }

    /// Waits for those that no thread waits for.
    pub fn finish(&self) {
        if let Self::Last(dying) = self {
            let mut dying = dying.lock().unwrap_or_else(PoisonError::into_inner);
            dying.retain_mut(|reap| reap.is_dying(0));
        }
    }
}

/// Ends processes as they come. One that takes long to die does not keep the others waiting.
fn bury(dead: &Receiver<Reap>) {
    let mut dying: Vec<Reap> = Vec::new();
    loop {
        let next_look = dying.iter().map(Reap::next_look).min();
        match dead.receive(next_look) {
            Received::Message(reap) => dying.push(reap),
            Received::TimeUp => {}
            Received::Closed => {
                dying.iter_mut().for_each(Reap::kill);
                // Nobody comes any more, so nobody waits for another's death.
                dying.retain_mut(|reap| reap.is_dying(0));
                return;
            }
        }
        let now = Instant::now();
        let is_due = |reap: &&mut Reap| reap.due.is_some_and(|due| due <= now);
        dying.iter_mut().filter(is_due).for_each(Reap::kill);
        dying.retain_mut(|reap| reap.is_dying(libc::WNOHANG));
    }
}

impl Reap {
    fn kill(&mut self) {
        if self.due.take().is_some() {
            self.process.kill();
        }
    }

    /// Nothing will happen to it before.
    fn next_look(&self) -> Instant {
        self.due.unwrap_or_else(|| Instant::now() + LOOK_AGAIN)
    }

    /// Waits as the flags say, and tells of the end if it has come.
    fn is_dying(&mut self, flags: libc::c_int) -> bool {
        match self.process.wait(flags) {
            Waited::NotYet => true,
            Waited::Over(ended) => {
                if let Some(ending) = self.ending.take() {
                    let _ = ending.send(ended);
                }
                false
            }
        }
    }
}

enum Waited {
    NotYet,
    Over(Option<Ending>),
}

impl Process {
    /// Kills the process, if it still runs, and waits for it.
    pub fn end(&self) -> Option<Ending> {
        self.kill();
        match self.wait(0) {
            Waited::Over(ending) => ending,
            Waited::NotYet => None,
        }
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
