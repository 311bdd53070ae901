//! Group commit: the queued writes of many runs, in one transaction.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pml_protocol::EffectClass;
use tokio::sync::oneshot;

use crate::context::Context;
use crate::error::StoreError;
use crate::lease::{OwnedRun, OwnedRuns};
use crate::model::{Checkpoint, JournalEntry, NewRun, RunState, UnixMs};
use crate::rows::run_place;
use crate::sql::{Statement, Transaction, Work, statement};
use crate::write_rows::{insert_run, upsert_checkpoint, upsert_entry};

/// How many writes one transaction has at most: other processes wait for it.
pub(crate) const GROUP_MAX: usize = 256;

/// A write of a run.
#[derive(Debug)]
pub(crate) struct WriteCommand {
    pub run: Arc<OwnedRun>,
    /// The row of the run, with its first write.
    pub begin: Option<Box<NewRun>>,
    pub write: RunWrite,
    /// Whether the caller waits until it is on disk.
    pub is_durable: bool,
    pub done: Option<oneshot::Sender<Result<(), StoreError>>>,
}

impl WriteCommand {
    /// Whether the write may wait for others. A crash loses it then: a further execution of the run
    /// asks again, which costs nothing but time where the request had no effect.
    pub fn can_wait(&self) -> bool {
        let is_repeatable = match &self.write {
            RunWrite::Entry(entry) => !entry.class.is_some_and(EffectClass::needs_intent),
            // A script that goes on has its progress kept.
            RunWrite::Checkpoint(_)
            | RunWrite::State { .. }
            | RunWrite::Release
            | RunWrite::Flush => false,
        };
        is_repeatable && self.begin.is_none() && self.done.is_none() && !self.is_durable
    }
}

#[derive(Debug)]
pub(crate) enum RunWrite {
    Entry(Box<JournalEntry>),
    Checkpoint(Checkpoint),
    /// A new state; the lease ends with it. It is the last write of an owner.
    State {
        state: RunState,
        reason: Option<String>,
        outcome: Option<Vec<u8>>,
    },
    /// Gives up the ownership.
    Release,
    /// Nothing: the caller waits for the writes before it.
    Flush,
}

impl RunWrite {
    /// The bytes of its values.
    pub fn size(&self) -> usize {
        match self {
            Self::Entry(entry) => entry.request.len() + entry.answer.as_ref().map_or(0, Vec::len),
            Self::Checkpoint(checkpoint) => checkpoint.value.len(),
            Self::State { outcome, .. } => outcome.as_ref().map_or(0, Vec::len),
            Self::Release | Self::Flush => 0,
        }
    }
}

/// Writes that share a transaction.
pub(crate) struct WriteGroup {
    runs: Vec<RunGroup>,
    is_durable: bool,
}

/// What a group writes for one run. Of two writes of one row, only the last is left, so their order
/// within the transaction does not matter.
struct RunGroup {
    run: Arc<OwnedRun>,
    begin: Option<Box<NewRun>>,
    entries: BTreeMap<u32, Box<JournalEntry>>,
    checkpoints: BTreeMap<String, Vec<u8>>,
    end: Option<End>,
    waiting: Vec<oneshot::Sender<Result<(), StoreError>>>,
}

enum End {
    State {
        state: RunState,
        reason: Option<String>,
        outcome: Option<Vec<u8>>,
    },
    Release,
}

impl WriteGroup {
    /// Sorts commands by their runs. The commands of a run that failed before are answered at once.
    pub fn new(commands: Vec<WriteCommand>) -> Self {
        let mut index: HashMap<*const OwnedRun, usize> = HashMap::new();
        let mut group = Self {
            runs: Vec::new(),
            is_durable: false,
        };
        for command in commands {
            let is_release = matches!(command.write, RunWrite::Release);
            if let (Some(error), false) = (command.run.failure(), is_release) {
                answer(command.done, Err(error.clone()));
                continue;
            }
            group.is_durable |= command.is_durable;
            let at = *index.entry(Arc::as_ptr(&command.run)).or_insert_with(|| {
                group.runs.push(RunGroup::new(command.run.clone()));
                group.runs.len() - 1
            });
            group.runs[at].add(command);
        }
        // Two processes that lock the rows of several runs do it in the same order.
        let key = |run: &RunGroup| (run.run.tenant.clone(), run.run.id.clone());
        group.runs.sort_by_key(key);
        group
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(RunGroup::is_empty)
    }

    /// How many runs it has.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Answers the callers after the transaction. `written` has a result for every run, or the error of
    /// the whole transaction.
    pub fn finish(
        self,
        written: Result<Vec<Result<(), StoreError>>, StoreError>,
        owned: &OwnedRuns,
    ) {
        let results = match written {
            Ok(results) => results,
            Err(error) => vec![Err(error); self.runs.len()],
        };
        for (group, result) in self.runs.into_iter().zip(results) {
            let run = &group.run;
            match &result {
                Ok(()) if group.end.is_some() => {
                    run.end_lease();
                    owned.remove(run);
                }
                Ok(()) if group.begin.is_some() => owned.insert(run.clone()),
                Ok(()) => {}
                Err(error) => {
                    run.fail(error.clone());
                    if matches!(error, StoreError::LostOwnership { .. }) {
                        owned.remove(run);
                    }
                }
            }
            for waiting in group.waiting {
                answer(Some(waiting), result.clone());
            }
        }
    }
}

fn answer(done: Option<oneshot::Sender<Result<(), StoreError>>>, result: Result<(), StoreError>) {
    if let Some(done) = done {
        // A caller that does not wait any more needs no answer.
        let _ = done.send(result);
    }
}

impl Work for WriteGroup {
    /// A result for every run.
    type Output = Vec<Result<(), StoreError>>;

    fn is_durable(&self) -> bool {
        self.is_durable
    }

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Self::Output, StoreError> {
        let now = transaction.now().await?;
        let mut results = Vec::with_capacity(self.runs.len());
        let mut statements = Vec::new();
        for group in &self.runs {
            if group.is_empty() {
                results.push(Ok(()));
                continue;
            }
            let result = match group.lock(transaction, context, now).await? {
                true => Ok(group
                    .seal(transaction, context, now, &mut statements)
                    .await?),
                // Nothing is left to give up.
                false if group.is_release_only() => Ok(()),
                false if group.was_written(transaction).await? => Ok(()),
                false if group.begin.is_some() => Err(StoreError::Exists {
                    id: group.run.id.clone(),
                }),
                false => Err(group.run.lost()),
            };
            results.push(result);
        }
        transaction.execute_all(statements).await?;
        Ok(results)
    }
}

impl RunGroup {
    fn new(run: Arc<OwnedRun>) -> Self {
        Self {
            run,
            begin: None,
            entries: BTreeMap::new(),
            checkpoints: BTreeMap::new(),
            end: None,
            waiting: Vec::new(),
        }
    }

    fn add(&mut self, command: WriteCommand) {
        self.begin = self.begin.take().or(command.begin);
        self.waiting.extend(command.done);
        match command.write {
            RunWrite::Entry(entry) => {
                self.entries.insert(entry.number, entry);
            }
            RunWrite::Checkpoint(Checkpoint { key, value }) => {
                self.checkpoints.insert(key, value);
            }
            RunWrite::State {
                state,
                reason,
                outcome,
            } => {
                self.end = Some(End::State {
                    state,
                    reason,
                    outcome,
                });
            }
            RunWrite::Release => self.end = Some(End::Release),
            RunWrite::Flush => {}
        }
    }

    fn has_no_rows(&self) -> bool {
        self.begin.is_none() && self.entries.is_empty() && self.checkpoints.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.has_no_rows() && self.end.is_none()
    }

    fn is_release_only(&self) -> bool {
        self.has_no_rows() && matches!(self.end, Some(End::Release))
    }

    /// Inserts the row of the run, or checks its fence. Returns whether this process owns the run. The
    /// row stays locked until the end of the transaction.
    async fn lock<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
        now: UnixMs,
    ) -> Result<bool, StoreError> {
        if let Some(begin) = &self.begin {
            let row = insert_run(transaction, context, begin, self.run.fence, now).await?;
            if transaction.execute(row).await? == 1 {
                return Ok(true);
            }
            // A transaction that is repeated may find the row that it wrote.
        }
        let touched = transaction
            .execute(statement!(
                "UPDATE pml_runs SET updated = $1 \
                 WHERE tenant = $2 AND id = $3 AND fence = $4 AND owner = $5",
                now,
                self.run.tenant.as_str(),
                self.run.id.as_str(),
                self.run.fence,
                context.owner.as_str(),
            ))
            .await?;
        Ok(touched == 1)
    }

    /// Whether the last write of this owner is committed already: its transaction is being repeated,
    /// because the answer to the commit was lost. Every other end of an ownership raises the fence.
    async fn was_written<T: Transaction>(&self, transaction: &mut T) -> Result<bool, StoreError> {
        if self.end.is_none() {
            return Ok(false);
        }
        let given_up = statement!(
            "SELECT id FROM pml_runs WHERE tenant = $1 AND id = $2 AND fence = $3 AND owner IS NULL",
            self.run.tenant.as_str(),
            self.run.id.as_str(),
            self.run.fence,
        );
        Ok(!transaction.query(given_up).await?.is_empty())
    }

    /// The statements that write the rows.
    async fn seal<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
        now: UnixMs,
        statements: &mut Vec<Statement>,
    ) -> Result<(), StoreError> {
        let run = (&self.run.tenant, &self.run.id);
        for entry in self.entries.values() {
            statements.push(upsert_entry(transaction, context, run, entry).await?);
        }
        for (key, value) in &self.checkpoints {
            statements.push(upsert_checkpoint(transaction, context, run, (key, value)).await?);
        }
        if let Some(end) = &self.end {
            statements.push(self.end(transaction, context, now, end).await?);
        }
        Ok(())
    }

    async fn end<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
        now: UnixMs,
        end: &End,
    ) -> Result<Statement, StoreError> {
        let (tenant, id) = (self.run.tenant.as_str(), self.run.id.as_str());
        let (state, reason, outcome) = match end {
            End::Release => {
                return Ok(statement!(
                    "UPDATE pml_runs SET owner = NULL, lease_until = 0 WHERE tenant = $1 AND id = $2",
                    tenant,
                    id,
                ));
            }
            End::State {
                state,
                reason,
                outcome,
            } => (*state, reason.clone(), outcome),
        };
        let outcome = match outcome {
            None => None,
            Some(outcome) => {
                let place = run_place(tenant, id, "outcome");
                Some(context.seal(transaction, place, outcome).await?)
            }
        };
        Ok(statement!(
            "UPDATE pml_runs SET state = $1, reason = $2, outcome = $3, ended = $4, updated = $5, \
             owner = NULL, lease_until = 0 WHERE tenant = $6 AND id = $7",
            state.as_str(),
            reason,
            outcome,
            state.is_ended().then_some(now),
            now,
            tenant,
            id,
        ))
    }
}
