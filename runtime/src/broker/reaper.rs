//! Kills and reaps workers. An unreaped child stays a zombie until its parent waits for it or ends;
//! PID 1 of a container, which then inherits it, may never wait.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::background_thread::background_thread;
use super::deferred_channel::{Received, Receiver, Sender, deferred_channel};
use super::process::{Ending, Process, Waited};

/// The outcome of a run reaches its caller before the CPU is busy with killing the run's worker and
/// forking the next: both start this long after the report.
pub const REPLY_FIRST: Duration = Duration::from_millis(3);

/// How often to check whether a killed process has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Kills and reaps the processes that are handed to it.
#[derive(Clone)]
pub enum Reaper {
    /// On a thread, so that no caller blocks.
    Thread(Sender<ReapJob>),
    /// When the pool is dropped, for a program that runs one script: it has nothing else to do by
    /// then, and is done sooner than a thread would start.
    OnDrop(Arc<Mutex<Vec<ReapJob>>>),
}

/// A process to kill and reap.
pub struct ReapJob {
    process: Process,
    /// When to kill it; `None` once it was killed.
    kill_at: Option<Instant>,
    ending: Option<oneshot::Sender<Option<Ending>>>,
}

impl Reaper {
    pub fn on_drop() -> Self {
        Self::OnDrop(Arc::default())
    }

    pub fn on_thread() -> io::Result<(Self, JoinHandle<()>)> {
        let (sender, jobs) = deferred_channel()?;
        let thread = background_thread("pml-reaper", move || reap_all(&jobs))?;
        Ok((Self::Thread(sender), thread))
    }

    /// Kills the process after [`REPLY_FIRST`], without waiting for its end here.
    pub fn take(&self, process: Process) {
        let mut job = ReapJob {
            process,
            kill_at: Some(Instant::now() + REPLY_FIRST),
            ending: None,
        };
        match self {
            Self::Thread(sender) => {
                if let Err(job) = sender.send(job, REPLY_FIRST) {
                    job.process.end();
                }
            }
            Self::OnDrop(jobs) => {
                job.kill();
                let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
                jobs.retain_mut(|job| job.is_running(libc::WNOHANG));
                jobs.push(job);
            }
        }
    }

    /// Kills the process and returns how it ended, which may have been by itself.
    pub async fn end(&self, process: Process) -> Option<Ending> {
        match self {
            Self::Thread(sender) => {
                process.kill();
                let (ending, ended) = oneshot::channel();
                let job = ReapJob {
                    process,
                    kill_at: None,
                    ending: Some(ending),
                };
                sender.send(job, Duration::ZERO).ok()?;
                ended.await.ok().flatten()
            }
            Self::OnDrop(_) => process.end(),
        }
    }

    /// Waits for the processes of [`Reaper::OnDrop`].
    pub fn finish(&self) {
        if let Self::OnDrop(jobs) = self {
            let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
            jobs.retain_mut(|job| job.is_running(0));
        }
    }
}

/// Kills and reaps processes as they arrive. It polls them all: one that takes long to end does not
/// delay the others.
fn reap_all(incoming: &Receiver<ReapJob>) {
    let mut jobs: Vec<ReapJob> = Vec::new();
    loop {
        let next_poll = jobs.iter().map(ReapJob::next_poll).min();
        match incoming.receive(next_poll) {
            Received::Message(job) => jobs.push(job),
            Received::TimedOut => {}
            Received::Closed => {
                jobs.iter_mut().for_each(ReapJob::kill);
                // No further job can arrive, so a blocking wait delays none.
                jobs.retain_mut(|job| job.is_running(0));
                return;
            }
        }
        let now = Instant::now();
        let is_due = |job: &&mut ReapJob| job.kill_at.is_some_and(|kill_at| kill_at <= now);
        jobs.iter_mut().filter(is_due).for_each(ReapJob::kill);
        jobs.retain_mut(|job| job.is_running(libc::WNOHANG));
    }
}

impl ReapJob {
    fn kill(&mut self) {
        if self.kill_at.take().is_some() {
            self.process.kill();
        }
    }

    /// When to look at the process again.
    fn next_poll(&self) -> Instant {
        self.kill_at
            .unwrap_or_else(|| Instant::now() + POLL_INTERVAL)
    }

    /// Waits as `flags` say. Sends the ending to its receiver once the process has ended.
    fn is_running(&mut self, flags: libc::c_int) -> bool {
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
