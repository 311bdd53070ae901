//! The queue of the writer thread.
//!
//! Waking a thread and committing a transaction both cost more than the write of a row. A write that
//! nothing waits for stays in the queue for [`LINGER`], so that one wake-up and one commit serve many
//! of them. Everything else in the queue wakes the thread, which then takes all that came before too:
//! the order of the queue is kept.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::writer::Writer;
use crate::run_writer::WriteQueue;
use crate::write_group::{GROUP_MAX, WriteCommand};

/// How long a write waits for others that share its transaction. A crash loses the answers of this
/// time that were not asked to be durable: a resumed run fetches them again.
const LINGER: Duration = Duration::from_millis(4);

/// Writes of this many bytes do not wait.
const LINGER_BYTES: usize = 1024 * 1024;

/// Something for the writer thread to do, in the order of the queue.
pub(super) enum Job {
    /// A write of a run: committed together with those around it.
    Write(WriteCommand),
    /// A transaction of its own.
    Work(Box<dyn FnOnce(&mut Writer) + Send>),
    /// Nothing: the thread has to look at the leases.
    Wake,
    /// The end of the thread.
    Stop(oneshot::Sender<()>),
}

/// A queue: its sending side, and the side of the writer thread.
pub(super) fn job_queue() -> (Arc<JobSender>, Jobs) {
    let queue = Arc::new(Queue {
        waiting: Mutex::new(Waiting {
            jobs: VecDeque::new(),
            due: None,
            bytes: 0,
            end: None,
        }),
        is_due: Condvar::new(),
    });
    (Arc::new(JobSender(queue.clone())), Jobs(queue))
}

struct Queue {
    waiting: Mutex<Waiting>,
    /// There is something to do at once, or the time in `due` is new.
    is_due: Condvar,
}

struct Waiting {
    jobs: VecDeque<Job>,
    /// When the thread has to take them; `None` if there are none.
    due: Option<Instant>,
    /// The values of the writes.
    bytes: usize,
    end: Option<End>,
}

/// One side is gone.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// No further job comes.
    Senders,
    /// No job is taken any more.
    Thread,
}

/// The sending side. When it is dropped, the thread ends after the jobs that are queued.
pub(super) struct JobSender(Arc<Queue>);

/// The side of the writer thread. When it is dropped, jobs are refused, and those in the queue are
/// dropped with their callers.
pub(super) struct Jobs(Arc<Queue>);

/// What the writer thread was woken for.
pub(super) enum Taken {
    /// Jobs, in their order; never none.
    Jobs(VecDeque<Job>),
    /// The time that it asked for.
    Time,
    /// No job will ever come.
    End,
}

impl JobSender {
    /// Queues a job. `false` if the thread has ended.
    pub fn send(&self, job: Job) -> bool {
        let mut waiting = self.0.lock();
        if waiting.end.is_some() {
            return false;
        }
        let due = match &job {
            Job::Write(command) if command.can_wait() => {
                waiting.bytes += command.write.size();
                let is_full = waiting.bytes > LINGER_BYTES || waiting.jobs.len() + 1 >= GROUP_MAX;
                match (is_full, waiting.due) {
                    (true, _) => Instant::now(),
                    (false, Some(due)) => due,
                    (false, None) => Instant::now() + LINGER,
                }
            }
            Job::Write(_) | Job::Work(_) | Job::Wake | Job::Stop(_) => Instant::now(),
        };
        waiting.jobs.push_back(job);
        let is_earlier = waiting.due.is_none_or(|known| due < known);
        if is_earlier {
            waiting.due = Some(due);
            drop(waiting);
            self.0.is_due.notify_one();
        }
        true
    }
}

impl WriteQueue for JobSender {
    fn push(&self, command: WriteCommand) -> bool {
        self.send(Job::Write(command))
    }
}

impl Drop for JobSender {
    fn drop(&mut self) {
        self.0.lock().end.get_or_insert(End::Senders);
        self.0.is_due.notify_one();
    }
}

impl Jobs {
    /// Waits for jobs, until a time if there is one.
    pub fn take(&self, until: Option<Instant>) -> Taken {
        let mut waiting = self.0.lock();
        loop {
            let now = Instant::now();
            let is_ended = waiting.end.is_some();
            if waiting.due.is_some_and(|due| due <= now || is_ended) {
                waiting.due = None;
                waiting.bytes = 0;
                return Taken::Jobs(std::mem::take(&mut waiting.jobs));
            }
            if is_ended {
                return Taken::End;
            }
            if until.is_some_and(|until| until <= now) {
                return Taken::Time;
            }
            waiting = match waiting.due.into_iter().chain(until).min() {
                Some(next) => self.wait_until(waiting, next - now),
                None => self.0.wait(waiting),
            };
        }
    }

    fn wait_until<'a>(
        &'a self,
        waiting: MutexGuard<'a, Waiting>,
        time: Duration,
    ) -> MutexGuard<'a, Waiting> {
        let waited = self.0.is_due.wait_timeout(waiting, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        waiting.end = Some(End::Thread);
        let left = std::mem::take(&mut waiting.jobs);
        drop(waiting);
        // A run that is dropped with its last write may ask for the queue.
        drop(left);
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Every change is one step.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, waiting: MutexGuard<'a, Waiting>) -> MutexGuard<'a, Waiting> {
        let waited = self.is_due.wait(waiting);
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use pml_protocol::{RunId, TenantId};

    use super::*;
    use crate::lease::OwnedRun;
    use crate::model::{EntryState, JournalEntry};
    use crate::write_group::RunWrite;

    fn write(bytes: usize) -> WriteCommand {
        WriteCommand {
            run: Arc::new(OwnedRun::new(
                TenantId::local(),
                RunId::random(),
                1,
                Duration::from_secs(30),
            )),
            begin: None,
            write: RunWrite::Entry(Box::new(JournalEntry {
                number: 1,
                key: [0; 32],
                occurrence: 0,
                title: String::new(),
                class: None,
                state: EntryState::Answered,
                request: vec![0; bytes],
                answer: None,
                answer_order: None,
                clock_ms: None,
                at: 0,
            })),
            is_durable: false,
            done: None,
        }
    }

    /// How many jobs are taken at once, and after which time.
    fn taken(jobs: &Jobs) -> (usize, Duration) {
        let begun = Instant::now();
        match jobs.take(Some(begun + Duration::from_secs(20))) {
            Taken::Jobs(taken) => (taken.len(), begun.elapsed()),
            Taken::Time | Taken::End => (0, begun.elapsed()),
        }
    }

    #[test]
    fn writes_that_nothing_waits_for_are_taken_together() {
        let (sender, jobs) = job_queue();
        for _ in 0..5 {
            assert!(sender.push(write(1)));
        }
        let (count, after) = taken(&jobs);
        assert_eq!(count, 5);
        assert!(after > LINGER / 2, "{after:?}");
    }

    #[test]
    fn a_write_that_is_waited_for_takes_those_before_it_along() {
        let (sender, jobs) = job_queue();
        assert!(sender.push(write(1)));
        let (done, _end) = oneshot::channel();
        assert!(sender.push(WriteCommand {
            done: Some(done),
            ..write(1)
        }));
        assert!(sender.push(write(1)));
        assert_eq!(taken(&jobs).0, 3);
    }

    #[test]
    fn many_or_large_writes_do_not_wait() {
        let (sender, jobs) = job_queue();
        assert!(sender.push(write(LINGER_BYTES + 1)));
        let begun = Instant::now();
        assert!(matches!(jobs.take(Some(begun)), Taken::Jobs(_)));
        for _ in 0..GROUP_MAX {
            assert!(sender.push(write(1)));
        }
        assert!(matches!(jobs.take(Some(begun)), Taken::Jobs(_)));
    }

    #[test]
    fn the_thread_is_free_at_the_time_that_it_asked_for() {
        let (_sender, jobs) = job_queue();
        assert!(matches!(jobs.take(Some(Instant::now())), Taken::Time));
    }

    #[test]
    fn what_is_queued_is_taken_after_the_last_sender_is_gone() {
        let (sender, jobs) = job_queue();
        assert!(sender.push(write(1)));
        drop(sender);
        assert!(matches!(jobs.take(None), Taken::Jobs(_)));
        assert!(matches!(jobs.take(None), Taken::End));
    }

    #[test]
    fn a_job_behind_the_end_of_the_thread_is_refused() {
        let (sender, jobs) = job_queue();
        let (stopped, stop) = oneshot::channel();
        assert!(sender.send(Job::Stop(stopped)));
        drop(jobs);
        assert!(stop.blocking_recv().is_err());
        assert!(!sender.push(write(1)));
    }
}
