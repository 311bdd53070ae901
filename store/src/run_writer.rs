//! The journal of one run, as the process that executes it writes it.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pml_protocol::RunId;
use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::lease::{OwnedRun, lease_clock};
use crate::model::{Checkpoint, JournalEntry, NewRun, RunState};
use crate::write_group::{RunWrite, WriteCommand};

/// Takes the writes of all runs, in the order in which they are made.
pub(crate) trait WriteQueue: Send + Sync {
    /// Queues a write. `false` if the store was closed.
    fn push(&self, command: WriteCommand) -> bool;
}

/// The journal of one run that this process owns.
///
/// Writes are queued without a limit and written in the order in which they are made, together with
/// those of other runs. Dropping a future of this type does not take its write back. The row of a new
/// run is written with its first write: a writer that is never used writes nothing at all.
///
/// After the first write that fails, nothing more is written, and every awaited method returns that
/// error: a journal has no holes. When the last clone is dropped, the run is released.
#[derive(Clone)]
pub struct RunWriter(Arc<Inner>);

struct Inner {
    run: Arc<OwnedRun>,
    queue: Arc<dyn WriteQueue>,
    phase: Mutex<Phase>,
}

enum Phase {
    /// Nothing was written yet.
    New(Box<NewRun>),
    Writing,
    /// The last write of this owner is queued.
    GivenUp,
}

impl RunWriter {
    /// The writer of a new run.
    pub(crate) fn of_new_run(queue: Arc<dyn WriteQueue>, run: Arc<OwnedRun>, row: NewRun) -> Self {
        Self::new(queue, run, Phase::New(Box::new(row)))
    }

    /// The writer of a run that was claimed.
    pub(crate) fn of_claimed_run(queue: Arc<dyn WriteQueue>, run: Arc<OwnedRun>) -> Self {
        Self::new(queue, run, Phase::Writing)
    }

    fn new(queue: Arc<dyn WriteQueue>, run: Arc<OwnedRun>, phase: Phase) -> Self {
        let phase = Mutex::new(phase);
        Self(Arc::new(Inner { run, queue, phase }))
    }

    /// The id of the run.
    pub fn id(&self) -> &RunId {
        &self.0.run.id
    }

    /// Queues an entry; it replaces an entry with the same number. An error is returned by the next
    /// awaited method.
    pub fn append(&self, entry: JournalEntry) {
        self.0.push(RunWrite::Entry(Box::new(entry)), false, None);
    }

    /// Writes an entry, and returns when it survives what the
    /// [`Durability`](crate::Durability) of the store says. The entry is queued by the call, before the
    /// future is polled.
    ///
    /// # Errors
    /// The entry, or one before it, was not written; [`StoreError::LostOwnership`] if another process
    /// owns the run.
    pub fn append_durable(
        &self,
        entry: JournalEntry,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        self.0.write(RunWrite::Entry(Box::new(entry)), true)
    }

    /// Queues a checkpoint; it replaces a checkpoint with the same key.
    pub fn checkpoint(&self, checkpoint: Checkpoint) {
        self.0.push(RunWrite::Checkpoint(checkpoint), false, None);
    }

    /// Writes the row of the run if there is none yet. As durable as
    /// [`append_durable`](Self::append_durable).
    ///
    /// # Errors
    /// As for [`append_durable`](Self::append_durable).
    pub async fn persist(&self) -> Result<(), StoreError> {
        self.0.write(RunWrite::Flush, true).await
    }

    /// Writes the row of the run if there is none yet. It survives the end of this process.
    ///
    /// # Errors
    /// The row was not written.
    pub async fn begin(&self) -> Result<(), StoreError> {
        if self.has_begun() {
            return Ok(());
        }
        self.0.write(RunWrite::Flush, false).await
    }

    /// Waits until everything before it is written.
    ///
    /// # Errors
    /// Something before it was not written.
    pub async fn flush(&self) -> Result<(), StoreError> {
        if !self.has_begun() {
            return Ok(());
        }
        self.0.write(RunWrite::Flush, false).await
    }

    /// Leaves the run waiting or unknown, and gives it up: another process may claim it. As durable as
    /// [`append_durable`](Self::append_durable).
    ///
    /// # Errors
    /// As for [`append_durable`](Self::append_durable).
    pub async fn set_state(&self, state: RunState, reason: Option<&str>) -> Result<(), StoreError> {
        self.end(state, reason, None).await
    }

    /// Ends the run with its outcome. Writes the row of a run that has none. As durable as
    /// [`append_durable`](Self::append_durable).
    ///
    /// # Errors
    /// As for [`append_durable`](Self::append_durable).
    pub async fn finish(
        &self,
        state: RunState,
        reason: Option<&str>,
        outcome: &[u8],
    ) -> Result<(), StoreError> {
        self.end(state, reason, Some(outcome.to_owned())).await
    }

    /// Gives the run up as it is: another process may resume it. The only write that is tried after
    /// another one failed.
    ///
    /// # Errors
    /// The store cannot be written: the run is free when the lease ends.
    pub async fn release(&self) -> Result<(), StoreError> {
        if !self.has_begun() {
            return Ok(());
        }
        self.0.write(RunWrite::Release, false).await
    }

    /// Whether everything that was written until now could be written, as far as it is known.
    ///
    /// # Errors
    /// The error of the first write that failed.
    pub fn check(&self) -> Result<(), StoreError> {
        self.0
            .run
            .failure()
            .map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Whether anything was queued, or the run was claimed.
    pub fn has_begun(&self) -> bool {
        !matches!(*self.0.phase(), Phase::New(_))
    }

    /// Whether the lease of this process has not ended, by a clock of this machine that does not stop
    /// with the process. `true` before the first write, `false` after the run was given up or lost.
    pub fn holds_lease(&self) -> bool {
        !self.has_begun() || self.0.run.holds_lease()
    }

    async fn end(
        &self,
        state: RunState,
        reason: Option<&str>,
        outcome: Option<Vec<u8>>,
    ) -> Result<(), StoreError> {
        let reason = reason.map(str::to_owned);
        let write = RunWrite::State {
            state,
            reason,
            outcome,
        };
        self.0.write(write, true).await
    }
}

impl fmt::Debug for RunWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunWriter({})", self.id())
    }
}

impl Inner {
    fn phase(&self) -> MutexGuard<'_, Phase> {
        // No code panics while it holds the lock.
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a write and returns the future of its end.
    fn write(
        &self,
        write: RunWrite,
        is_durable: bool,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let (done, end) = oneshot::channel();
        self.push(write, is_durable, Some(done));
        async move { end.await.unwrap_or(Err(StoreError::Closed)) }
    }

    fn push(
        &self,
        write: RunWrite,
        is_durable: bool,
        done: Option<oneshot::Sender<Result<(), StoreError>>>,
    ) {
        // Held until the write is queued, so the row of the run is before everything else.
        let mut phase = self.phase();
        let is_last = matches!(write, RunWrite::State { .. } | RunWrite::Release);
        let begin = match std::mem::replace(&mut *phase, Phase::Writing) {
            Phase::New(row) => {
                self.run.extend_lease(lease_clock());
                Some(row)
            }
            Phase::Writing => None,
            Phase::GivenUp => {
                *phase = Phase::GivenUp;
                self.refuse(&write, done);
                return;
            }
        };
        if is_last {
            *phase = Phase::GivenUp;
        }
        let is_queued = self.queue.push(WriteCommand {
            run: self.run.clone(),
            begin,
            write,
            is_durable,
            done,
        });
        if !is_queued {
            self.run.fail(StoreError::Closed);
        }
    }

    /// Answers a write after the last one.
    fn refuse(&self, write: &RunWrite, done: Option<oneshot::Sender<Result<(), StoreError>>>) {
        let result = match (self.run.failure(), write) {
            (_, RunWrite::Release) => Ok(()),
            (Some(error), _) => Err(error.clone()),
            (None, RunWrite::Flush) => Ok(()),
            (None, _) => Err(StoreError::Released {
                id: self.run.id.clone(),
            }),
        };
        if let Some(done) = done {
            // A caller that does not wait any more needs no answer.
            let _ = done.send(result);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if matches!(*self.phase(), Phase::Writing) {
            self.push(RunWrite::Release, false, None);
        }
    }
}
