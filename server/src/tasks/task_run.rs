//! A run that a client may read as a task.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use pml_hosts::Decision;
use pml_hosts::journal::RunJournal;
use pml_protocol::RunId;
use pml_store::StoreError;

use super::running_tasks::TrackedTask;
use crate::tool_task::{TaskEvent, ToolTask};

/// How a run begins that may become a task.
#[derive(Debug, Clone, Copy)]
pub struct TaskStart {
    /// How long the task can be read, from its creation.
    pub ttl_ms: u64,
    /// It is a task from the beginning. Otherwise it becomes one if the script takes long.
    pub at_once: bool,
}

/// The client waits for the reply.
const DIRECT: u8 = 0;
/// The client has got the id of the task, and reads the reply from the store.
const DETACHED: u8 = 1;
/// The run has ended, and the client gets the reply.
const ENDED: u8 = 2;

/// A run that is a task, or can become one as long as it has not ended.
pub struct TaskRun {
    journal: Arc<RunJournal>,
    phase: AtomicU8,
}

impl TaskRun {
    pub fn new(journal: Arc<RunJournal>, start: TaskStart) -> Arc<Self> {
        let phase = match start.at_once {
            true => DETACHED,
            false => DIRECT,
        };
        Arc::new(Self {
            journal,
            phase: AtomicU8::new(phase),
        })
    }

    /// The id of the run and of the task.
    pub fn id(&self) -> &RunId {
        self.journal.id()
    }

    /// Makes the run a task: it is in the store when this returns. `false` if it has ended before, so
    /// that there is a reply.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    pub async fn detach(&self) -> Result<bool, StoreError> {
        let (order, load) = (Ordering::AcqRel, Ordering::Acquire);
        let before = self.phase.compare_exchange(DIRECT, DETACHED, order, load);
        if before == Err(ENDED) {
            return Ok(false);
        }
        self.journal.persist().await?;
        Ok(true)
    }

    /// The run ends. Returns whether it is a task, whose end must be in the store.
    pub fn end(&self) -> bool {
        let (order, load) = (Ordering::AcqRel, Ordering::Acquire);
        let before = self.phase.compare_exchange(DIRECT, ENDED, order, load);
        before == Err(DETACHED)
    }
}

/// Waits for the end of a task whose client has got its id. There is no request of the client that an
/// approval could be asked with, so it has to be a row of the store.
pub async fn drive(mut task: ToolTask, tracked: TrackedTask) {
    loop {
        let event = tokio::select! {
            event = task.next() => event,
            () = tracked.cancelled() => None,
        };
        match event {
            Some(TaskEvent::NeedsApproval(_, answer)) => {
                // If the task does not wait for it any more, it needs no answer.
                let _ = answer.send(Decision::NoAnswer);
            }
            Some(TaskEvent::Begun(_)) => {}
            Some(TaskEvent::Done(_)) | None => break,
        }
    }
    // Ends the script of a task that was cancelled, before those that wait for its end are woken.
    drop(task);
    drop(tracked);
}
