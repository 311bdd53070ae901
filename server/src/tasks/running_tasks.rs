//! The tasks that this process executes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pml_protocol::{RunId, SessionId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Tasks of one session that run at the same time.
pub const MAX_PER_SESSION: usize = 32;
/// Tasks of all sessions that run at the same time.
const MAX_RUNNING: usize = 256;
/// How often a run is resumed because its client asks for it. After that it fails for a reason that does
/// not pass.
const MAX_RESUMES: u32 = 3;
/// Runs whose resumptions are counted.
const MAX_COUNTED: usize = 1024;

/// The tasks and the resumed runs that this process executes.
#[derive(Default)]
pub struct RunningTasks {
    running: Mutex<Vec<Running>>,
    resumes: Mutex<HashMap<RunId, u32>>,
    /// Grows with every task that ends.
    ended: watch::Sender<u64>,
    /// How many were tracked so far.
    tracked: AtomicU64,
}

struct Running {
    /// A run can be here twice for a moment: as a task that waits for approval now, and as a resumed run.
    number: u64,
    id: RunId,
    cancel: CancellationToken,
    /// `None` for a run that was resumed.
    session: Option<SessionId>,
}

/// What becomes of a run that was interrupted.
pub enum Resumption {
    /// This process executes it.
    Runs,
    /// It is to be resumed now.
    Start(TrackedTask),
    /// It was resumed often enough, or too much runs already.
    GivenUp,
}

impl RunningTasks {
    /// Counts a new task of a session; `None` if too many run.
    pub fn track(self: &Arc<Self>, id: &RunId, session: SessionId) -> Option<TrackedTask> {
        let mut running = self.lock();
        let of_session = running
            .iter()
            .filter(|task| task.session == Some(session))
            .count();
        if of_session >= MAX_PER_SESSION || running.len() >= MAX_RUNNING {
            return None;
        }
        Some(self.insert(&mut running, id, Some(session)))
    }

    /// Counts a run that is resumed at the start of the server.
    pub fn resumed(self: &Arc<Self>, id: &RunId) -> TrackedTask {
        self.insert(&mut self.lock(), id, None)
    }

    /// What becomes of a run that its client asks for and that no process executes.
    pub fn resume(self: &Arc<Self>, id: &RunId) -> Resumption {
        let mut running = self.lock();
        if running.iter().any(|task| task.id == *id) {
            return Resumption::Runs;
        }
        if running.len() >= MAX_RUNNING || !self.count_resume(id) {
            return Resumption::GivenUp;
        }
        Resumption::Start(self.insert(&mut running, id, None))
    }

    /// Ends the execution of a task.
    pub fn cancel(&self, id: &RunId) {
        for task in self.lock().iter().filter(|task| task.id == *id) {
            task.cancel.cancel();
        }
    }

    /// Whether no task runs.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Changes when a task ends.
    pub fn ended(&self) -> watch::Receiver<u64> {
        self.ended.subscribe()
    }

    fn count_resume(&self, id: &RunId) -> bool {
        let mut resumes = self.resumes.lock().unwrap_or_else(PoisonError::into_inner);
        if resumes.len() >= MAX_COUNTED {
            resumes.clear();
        }
        let count = resumes.entry(id.clone()).or_default();
        *count += 1;
        *count <= MAX_RESUMES
    }

    fn insert(
        self: &Arc<Self>,
        running: &mut Vec<Running>,
        id: &RunId,
        session: Option<SessionId>,
    ) -> TrackedTask {
        let cancel = CancellationToken::new();
        let number = self.tracked.fetch_add(1, Ordering::Relaxed);
        running.push(Running {
            number,
            id: id.clone(),
            cancel: cancel.clone(),
            session,
        });
        TrackedTask {
            tasks: self.clone(),
            number,
            cancel,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Running>> {
        // Tasks are added and removed in one step each.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task that this process executes. Dropping it tells those who wait that it has ended.
pub struct TrackedTask {
    tasks: Arc<RunningTasks>,
    number: u64,
    cancel: CancellationToken,
}

impl TrackedTask {
    /// Returns when the task is cancelled.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }
}

impl Drop for TrackedTask {
    fn drop(&mut self) {
        self.tasks.lock().retain(|task| task.number != self.number);
        self.tasks.ended.send_modify(|ended| *ended += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_a_bounded_number_of_running_tasks() {
        let tasks = Arc::new(RunningTasks::default());
        let (session, other) = (SessionId::random(), SessionId::random());
        let mut running: Vec<TrackedTask> = (0..MAX_PER_SESSION)
            .map(|_| tasks.track(&RunId::random(), session).unwrap())
            .collect();
        assert!(tasks.track(&RunId::random(), session).is_none());
        assert!(tasks.track(&RunId::random(), other).is_some());
        running.pop();
        assert!(tasks.track(&RunId::random(), session).is_some());
    }

    #[test]
    fn a_run_that_fails_to_resume_is_given_up() {
        let tasks = Arc::new(RunningTasks::default());
        let id = RunId::random();
        for _ in 0..MAX_RESUMES {
            let Resumption::Start(tracked) = tasks.resume(&id) else {
                panic!("it is resumed");
            };
            assert!(matches!(tasks.resume(&id), Resumption::Runs));
            drop(tracked);
        }
        assert!(matches!(tasks.resume(&id), Resumption::GivenUp));
    }
}
